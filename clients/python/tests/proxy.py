"""A proxy in front of a server, which disturbs connections."""

import contextlib
import socket
import threading


class Proxy:
    """Passes bytes on to a server.

    It can swallow the answers, hold back either direction, cut every connection, and be away.
    """

    def __init__(self, address: str) -> None:
        host, port = address.split(":")
        self._upstream = (host, int(port))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self.swallowing = False
        # Whether requests, and whether answers may pass.
        self._open = {False: threading.Event(), True: threading.Event()}
        self.release()
        self._sockets: list[socket.socket] = []
        threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            server = socket.create_connection(self._upstream)
            self._sockets += [client, server]
            threading.Thread(target=self._pump, args=(client, server, False), daemon=True).start()
            threading.Thread(target=self._pump, args=(server, client, True), daemon=True).start()

    def _pump(self, source: socket.socket, sink: socket.socket, answers: bool) -> None:
        try:
            while data := source.recv(65536):
                self._open[answers].wait()
                if not (answers and self.swallowing):
                    sink.sendall(data)
        except OSError:
            pass  # cut

    def hold(self, *, answers: bool) -> None:
        """Holds back answers, or else requests."""
        self._open[answers].clear()

    def release(self) -> None:
        for opened in self._open.values():
            opened.set()

    def cut(self) -> None:
        self.swallowing = False
        # A client connects again at once; that connection is not to be cut, and goes into a new list.
        ends, self._sockets = self._sockets, []
        for end in ends:
            # shutdown wakes the thread that waits for bytes; close alone does not.
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def leave(self) -> None:
        """Cuts every connection and takes no others, like a server that is gone, until `come_back`."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut()

    def come_back(self) -> None:
        host, port = self.address.split(":")
        self._listener = socket.create_server((host, int(port)))
        self.release()
        threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def close(self) -> None:
        self._listener.close()
        self.release()
        self.cut()
