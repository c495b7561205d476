// Checks the events of a watched session against the request: its environments, and the size of their playfields.

import type { MessageInitShape } from "@bufbuild/protobuf";

import { agree } from "./answers.js";
import { unreadable } from "./errors.js";
import type { WatchFrame, WatchSessionRequestSchema, WatchSessionResponse, WatchStarted } from "./protocol.js";

/** An event of a watched session. */
export type WatchEvent = Exclude<WatchSessionResponse["event"], { case: undefined }>;

/** Yields the events of a watched session. Throws if they do not fit the request. */
export async function* watched(
  { session, envs }: MessageInitShape<typeof WatchSessionRequestSchema>,
  messages: AsyncIterable<WatchSessionResponse>,
): AsyncGenerator<WatchEvent> {
  let started: WatchStarted | undefined;
  for await (const { event } of messages) {
    if ((started === undefined) !== (event.case === "started")) {
      throw unreadable(`${event.case ?? "an unknown event"} is out of order`);
    }
    if (event.case === "started") {
      started = event.value;
      agree("session", started.session?.name, session);
      if (envs !== undefined) {
        agree("environments", String(started.envIds), String(envs.ids));
      }
    } else if (event.case === "frame") {
      checkFrame(event.value, started!);
    } else {
      continue; // an event of a newer server
    }
    yield event;
  }
}

function checkFrame({ envs }: WatchFrame, { session, envIds }: WatchStarted): void {
  agree("environments of a frame", String(envs.map(({ envId }) => envId)), String(envIds));
  const { width, height } = session?.config?.rules ?? {};
  for (const { colors } of envs) {
    // Before the first episode there are no colors.
    if (colors.length > 0) {
      agree("number of colors", colors.length, (width ?? 0) * (height ?? 0));
    }
  }
}
