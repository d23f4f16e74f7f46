# The environment of the lock file, with the project in it.
#   docker build -t calbias .
#   docker run --rm -v "$PWD/results:/calbias/results" calbias
FROM python:3.11-slim-bookworm

WORKDIR /calbias
COPY envs/requirements.lock envs/requirements-build.lock envs/
RUN pip install --no-cache-dir --no-deps --require-hashes -r envs/requirements-build.lock \
 && pip install --no-cache-dir --no-deps --no-build-isolation --require-hashes -r envs/requirements.lock \
 && pip check
COPY . .

# make reproduce without its virtual environment: the image is the environment.
CMD ["python", "scripts/reproduce.py"]
