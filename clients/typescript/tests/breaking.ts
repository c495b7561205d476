// A connection to a server that breaks when a test says so: before a request arrives, or after the server has answered it.

import { type AddressInfo, type Socket, connect, createServer } from "node:net";

/** When the next call loses its connection. */
export type Break = "never" | "before the request" | "after the answer";

/** A proxy in front of a server. */
export class Breaking {
  /** When the next call loses its connection. It breaks once. */
  next: Break = "never";
  /** How many connections broke. */
  broken = 0;

  private constructor(
    private readonly port: number,
    private readonly stopListening: () => void,
  ) {}

  /** `http://127.0.0.1:PORT`. */
  get address(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Starts a proxy in front of a server. */
  static async start(address: string): Promise<Breaking> {
    const sockets = new Set<Socket>();
    const server = createServer((client) => {
      const upstream = connect(Number(new URL(address).port), "127.0.0.1");
      const both = [client, upstream];
      const end = () => both.forEach((socket) => socket.destroy());
      const breakNow = () => {
        proxy.next = "never";
        proxy.broken += 1;
        end();
      };
      for (const socket of both) {
        sockets.add(socket);
        socket.on("error", end).on("close", end);
      }
      const isAnswer = answers();
      client.on("data", (bytes) => (proxy.next === "before the request" ? breakNow() : upstream.write(bytes)));
      upstream.on("data", (bytes: Buffer) => (isAnswer(bytes) && proxy.next === "after the answer" ? breakNow() : client.write(bytes)));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const proxy = new Breaking((server.address() as AddressInfo).port, () => {
      server.close();
      sockets.forEach((socket) => socket.destroy());
    });
    return proxy;
  }

  /** Ends the proxy and its connections. */
  stop(): void {
    this.stopListening();
  }
}

/** Tells whether bytes from a server belong to an answer: all of HTTP/1, and the frames DATA and HEADERS of HTTP/2. */
function answers(): (bytes: Buffer) => boolean {
  let isFirst = true;
  let isText = false;
  let pending = Buffer.alloc(0);
  return (bytes) => {
    isText ||= isFirst && bytes.subarray(0, 4).toString() === "HTTP";
    isFirst = false;
    if (isText) {
      return true;
    }
    let isAnswer = false;
    pending = Buffer.concat([pending, bytes]);
    // A frame has three bytes of length, one of type and five more before its payload.
    while (pending.length >= 9 && pending.length >= 9 + pending.readUIntBE(0, 3)) {
      isAnswer ||= pending[3]! <= 1;
      pending = pending.subarray(9 + pending.readUIntBE(0, 3));
    }
    return isAnswer;
  };
}
