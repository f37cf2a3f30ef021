# The mock catalog as an image: the same as `icecheck serve`, with its page and its object store.
#
#   docker build --tag icecheck .
#   docker run --rm --publish 8181:8181 icecheck --warehouse demo
#
# Where containers reach it by another name than localhost, name that: `--allow-host catalog`.
FROM python:3.13-slim AS build
COPY . /source
RUN pip install --no-cache-dir build==1.3.0 \
    && python -m build --wheel --outdir /wheels /source

FROM python:3.13-slim
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    pip install --no-cache-dir "$(echo /wheels/icecheck-*.whl)[ui,s3]" pyyaml==6.0.3 \
    && useradd --create-home --uid 10001 icecheck \
    && install --directory --owner=icecheck /state
USER 10001
EXPOSE 8181
HEALTHCHECK --interval=5s --timeout=3s --start-period=5s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8181/v1/config')"]
ENTRYPOINT ["icecheck", "serve", "--host", "0.0.0.0", "--port", "8181"]
