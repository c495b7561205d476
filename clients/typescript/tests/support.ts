// A real server for the tests: the program that TETRION_BINARY names, on a free port, which ends with this process.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

import { type Client, connect } from "../src/index.js";
import { grpc } from "../src/node.js";

/** A server of its own for a file of tests. */
export class Running {
  private constructor(
    private readonly process: ChildProcess,
    /** `http://127.0.0.1:PORT`. */
    readonly address: string,
    /** A connection to it over gRPC. */
    readonly client: Client,
  ) {}

  /** Starts the program with these flags. */
  static async start(...flags: string[]): Promise<Running> {
    const program = process.env["TETRION_BINARY"];
    if (program === undefined) {
      throw new Error("TETRION_BINARY must name the server program");
    }
    const command = ["serve", "--listen", "127.0.0.1:0", "--exit-on-stdin-eof", "--log", "error", ...flags];
    const child = spawn(program, command, { stdio: ["pipe", "pipe", "inherit"] });
    let line = "";
    for await (const text of child.stdout) {
      line += text;
      if (line.endsWith("\n")) {
        break;
      }
    }
    const address = `http://${line.trim().split(" ").at(-1)}`;
    const token = flags[flags.indexOf("--token") + 1];
    const options = flags.includes("--token") ? { transport: grpc, token } : { transport: grpc };
    return new Running(child, address, connect(address, options));
  }

  /** Stops it. */
  async stop(): Promise<void> {
    const ended = once(this.process, "exit");
    this.process.stdin?.end();
    await ended;
  }
}
