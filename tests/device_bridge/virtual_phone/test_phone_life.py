"""A virtual phone lives as long as the program that started it, and not as long as a thread of that."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time

import psutil
import pytest
from virtual_phones import OwnAdbServer

from device_bridge.errors import VirtualPhoneError
from device_bridge.virtual_phone.plug import Plug

DEADLINE_S = 120.0
PROGRAM = """
import json, sys, threading, time
from pathlib import Path
from device_bridge.adb.servers import parse_server
from device_bridge.virtual_phone import VirtualPhone
phone = VirtualPhone(Path(sys.argv[1]), parse_server(sys.argv[2]), isolation=sys.argv[3])
phone.wait_ready()
print(json.dumps(phone._process.pid), flush=True)
time.sleep(600)
"""


def test_a_phone_that_a_thread_has_started_outlives_the_thread(start_phone):
    phones = []
    thread = threading.Thread(target=lambda: phones.append(start_phone()))
    thread.start()
    thread.join(DEADLINE_S)
    time.sleep(0.3)  # a signal at the thread's end would have come by now
    assert phones[0].alive
    assert phones[0].phone.run(["echo", "here"]).text == "here\n"


@pytest.mark.parametrize(("isolation", "state"), [("auto", "awake"), ("auto", "stopped"), ("mapped", "awake")])
def test_a_phone_ends_when_its_program_is_killed_however_busy_it_is(tmp_path, isolation, state):
    own = OwnAdbServer(tmp_path)  # the server goes on knowing a phone that was stopped
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "phone"), str(own.server), isolation]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL) as program:
        phone = psutil.Process(json.loads(program.stdout.readline()))
        everything = [phone, *phone.children(recursive=True)]
        if state == "stopped" and len(everything) == 1:
            program.kill()
            pytest.skip("this host has no namespaces for users")
        if state == "stopped":
            os.kill(everything[1].pid, signal.SIGSTOP)
        program.kill()
        program.wait(DEADLINE_S)
    _, alive = psutil.wait_procs(everything, timeout=DEADLINE_S)
    for process in alive:
        process.kill()
    own.stop()
    assert alive == []


def test_a_phone_that_was_closed_says_that_it_has_ended(start_phone):
    phone = start_phone()
    phone.close()
    with pytest.raises(VirtualPhoneError, match="has ended"):
        phone.fault("charging")


@pytest.mark.skipif(os.name != "posix", reason="only POSIX lets a second socket keep a port")
def test_nobody_is_given_the_port_of_a_phone_that_is_away():
    async def life():
        plug = Plug(None, lambda: None)
        for _ in range(2):
            await plug.put_in()
            socket.create_connection(("127.0.0.1", plug.port)).close()
            port = plug.port
            await plug.pull()
            with socket.socket() as other, pytest.raises(OSError, match="in use"):
                other.bind(("127.0.0.1", port))
            with socket.socket() as caller, pytest.raises(ConnectionRefusedError):
                caller.connect(("127.0.0.1", port))
        plug._holder.close()  # a phone keeps it to its end
        return port == plug.port

    assert asyncio.run(life())
