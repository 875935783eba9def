# Two stages: the first builds the wheel, the second installs it with the locked versions of what it needs. The image
# holds no source and no compiler, and its process is not root.
#
# It listens on the container's own loopback, where nobody outside reaches it: `tally serve` refuses any other address
# unless auth is set. compose.yaml sets both.

FROM python:3.12-slim AS build
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY src ./src
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.12-slim
COPY requirements.lock /install/requirements.lock
COPY --from=build /wheels /install/wheels
RUN pip install --no-cache-dir --require-hashes --no-deps -r /install/requirements.lock \
    && pip install --no-cache-dir --no-deps /install/wheels/*.whl \
    && rm -r /install \
    && useradd --uid 10001 --create-home tally \
    && install -d -o tally -g tally -m 0700 /workspace /state
USER 10001
ENV TALLY_STATE_DIR=/state PYTHONUNBUFFERED=1
WORKDIR /workspace
VOLUME ["/workspace", "/state"]
EXPOSE 8787
HEALTHCHECK --start-period=20s CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8787/health', timeout=3)"]
ENTRYPOINT ["tally"]
CMD ["serve", "--workspace", "/workspace"]
