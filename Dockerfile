# The environment of the lock file, with the project in it.
# The user in it is not root, and has your number, so that results/ is yours.
#   docker build -t calbias --build-arg UID="$(id -u)" .
#   docker run --rm -v "$PWD/results:/calbias/results" calbias
FROM python:3.11-slim-bookworm@sha256:a36c24f9cbdf4fd0f52d67f0823eeac19c2028c637cecc392d97f980d4fec56b

ARG UID=1000
RUN useradd --create-home --uid "$UID" calbias
WORKDIR /calbias
COPY envs/requirements.lock envs/requirements-build.lock envs/
RUN pip install --no-cache-dir --no-deps --require-hashes -r envs/requirements-build.lock \
 && pip install --no-cache-dir --no-deps --no-build-isolation --require-hashes -r envs/requirements.lock \
 && pip check
RUN chown calbias /calbias
COPY --chown=calbias . .
USER calbias

# make reproduce without its virtual environment: the image is the environment.
CMD ["python", "scripts/reproduce.py"]
