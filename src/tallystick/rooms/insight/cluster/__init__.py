"""Clusters of tickets that are about the same thing.

    rows         a dataset's tickets and vectors, one row per distinct text, in an order that content alone decides
    space        vectors and words in one space, each row pooled with its nearest neighbours
    points       rows, or weighted centres of many rows; nearest centres
    ward         the tree of Ward's method over weighted points
    count        the number of clusters on which halves of the rows agree
    methods      ward, kmeans and hdbscan behind one function
    quality      silhouette and agreement
    description  clusters numbered, labelled by their terms, quoted, and drawn on a plane
    service      all of it together

The same tickets get the same clusters in any order and on every run: rows are sorted by their digests, and every sample
and half is a fixed part of that order.
"""
