"""Groups of tickets that are about the same thing.

    rows       a dataset's tickets and vectors, one row for each different text, in an order that content alone decides
    space      vectors and words in one space, each row moved towards its nearest neighbours
    centres    the nearest of some centres, and centres moved to the middle of their rows
    micro      more rows than can be compared with each other become weighted centres
    ward       the tree of Ward's method over weighted points
    choosing   how many groups: those that halves of the rows agree on
    methods    ward, kmeans and hdbscan behind one question
    quality    how far groups lie apart, and how well they are found again
    terms      the words that tell a group from the others
    picture    the rows on a plane
    telling    groups numbered, named and quoted
    running    all of it together: what the tool asks

The same tickets get the same groups in whatever order they stand in the file and however often it is asked. Rows are
put in the order of their digests first, which is as good as a seeded shuffle: every sample and every half is a fixed
part of that order, and nothing is left to chance.
"""
