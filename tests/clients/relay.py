"""A relay on localhost: libtpu's client asks a port of this host, whatever address a worker has."""

import asyncio
import threading


async def _copy(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


class Relay:
    """Listens on localhost at the target's own port until it is stopped."""

    def __init__(self, address):
        self._host, port = address.rsplit(":", 1)
        self.port = int(port)
        self._loop = asyncio.new_event_loop()
        self._loop.run_until_complete(
            asyncio.start_server(self._serve, host="127.0.0.1", port=self.port)
        )
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    async def _serve(self, reader, writer):
        from_target, to_target = await asyncio.open_connection(self._host, self.port)
        await asyncio.gather(_copy(reader, to_target), _copy(from_target, writer))

    def stop(self):
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
