"""compose.yaml and its image can't be run here: what they are made of can."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest
import yaml

from tests.servers import Server, full
from tests.servers.cluster import Cluster
from tests.servers.places import CHECKOUT

FOLDER = CHECKOUT / "containers" / "full"
DOCKERFILE = (FOLDER / "Dockerfile").read_text(encoding="utf-8")


def compose() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((CHECKOUT / "compose.yaml").read_text(encoding="utf-8"))
    return found


def command() -> list[str]:
    found = re.search(r"^CMD (\[.*\])$", DOCKERFILE.replace("\\\n", ""), re.MULTILINE)
    assert found is not None
    words: list[str] = json.loads(found[1])
    return words


@pytest.fixture
def cluster(server_named: Callable[[str], Server]) -> Iterator[Cluster]:
    """A new cluster with the settings of the image, beside `full`."""
    server_named("full")  # makes the root with the same packages
    settings = dict(word.split("=", 1) for word in command()[2::2])
    options = compose()["services"]["database"]["environment"]["POSTGRES_INITDB_ARGS"]
    made = replace(
        full.cluster(),
        name="container",
        folder=full.cluster().folder.with_name("container"),
        initdb=tuple(options.split()),
        settings=settings,
        tcp=False,
    )
    made.up()
    yield made
    made.down()


@pytest.mark.servers("full")
def test_the_image_has_the_packages_that_are_tested() -> None:
    packages = set(re.findall(r"postgresql-\d+-\w+", DOCKERFILE))
    assert packages == {name for name in full.ROOT.packages if re.match(r".*-17-", name)}
    assert DOCKERFILE.count("FROM postgres:17-trixie") == 1
    assert compose()["services"]["database"]["build"] == str(FOLDER.relative_to(CHECKOUT))


@pytest.mark.servers("full")
def test_the_script_of_the_image_makes_every_extension(cluster: Cluster) -> None:
    with psycopg.connect(cluster.dsn, autocommit=True) as connection:
        connection.execute("CREATE DATABASE negmem")
    script = (FOLDER / "initdb" / "10-extensions.sql").read_text(encoding="utf-8")
    target = f"host={cluster.folder} user=postgres dbname=negmem"
    psql: list[str | Path] = [
        cluster.programs / "psql",
        "-v",
        "ON_ERROR_STOP=1",
        "--no-psqlrc",
        target,
    ]
    cluster.enclosure.run(psql, stdin=script)
    with psycopg.connect(cluster.dsn, dbname="negmem", autocommit=True) as connection:
        found = connection.execute("SELECT extname FROM pg_extension ORDER BY 1").fetchall()
        assert [row[0] for row in found] == ["age", "pg_cron", "plpgsql", "vector"]
        connection.execute("CREATE DATABASE another")
    with psycopg.connect(cluster.dsn, dbname="another", autocommit=True) as connection:
        connection.execute("CREATE TABLE mark (a int)")
        connection.execute("DROP TABLE mark")


@pytest.mark.servers("full")
def test_the_password_is_asked_for_and_only_this_machine_may_connect() -> None:
    service = compose()["services"]["database"]
    assert service["environment"]["POSTGRES_PASSWORD"].startswith("${NEGMEM_DB_PASSWORD:?")
    assert all(str(port).startswith("127.0.0.1:") for port in service["ports"])
    assert Path(service["volumes"][0].split(":")[1]) == Path("/var/lib/postgresql/data")
