// What a session looks like while others step it, compared with the request: the environments asked for, on fields of their size.

import type { MessageInitShape } from "@bufbuild/protobuf";

import { agree } from "./answers.js";
import { unreadable } from "./errors.js";
import type { WatchFrame, WatchSessionRequestSchema, WatchSessionResponse, WatchStarted } from "./gen/tetrion/v1/environment_service_pb.js";

/** A message of a session that is watched. */
export type WatchEvent = Exclude<WatchSessionResponse["event"], { case: undefined }>;

/** Passes the events of a session that is watched on, while they fit the request. */
export async function* watched(
  { session, envIds = [] }: MessageInitShape<typeof WatchSessionRequestSchema>,
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
      if (envIds.length > 0) {
        agree("environments", String(started.envIds), String(envIds));
      }
    } else if (event.case === "frame") {
      checkFrame(event.value, started!);
    } else {
      continue; // of a newer server
    }
    yield event;
  }
}

function checkFrame({ envs }: WatchFrame, { session, envIds }: WatchStarted): void {
  agree("environments of a frame", String(envs.map(({ envId }) => envId)), String(envIds));
  const { width, height } = session?.config?.rules ?? {};
  for (const { cells } of envs) {
    // None at all before the first episode.
    if (cells.length > 0) {
      agree("number of cells", cells.length, (width ?? 0) * (height ?? 0));
    }
  }
}
