/**
 * Records the messages of xDS streams with their times, and replays the server or the client of a recording.
 *
 * @packageDocumentation
 */
export type { RecordedEvent, Recording } from "./recording.ts";
export {
  createRecorder,
  observeStream,
  type OpenStream,
  type StreamObserver,
} from "./create-recorder.ts";
export { formatEvent, formatRecording, parseRecording } from "./recording-text.ts";
export { readRequest, type ReadResource } from "./read-message.ts";
export { createReplayServer, type ReplayServerEvent } from "./create-replay-server.ts";
export { payloadsOf } from "./replay-script.ts";
export { replayClient, type ReplayClientEvent } from "./replay-client.ts";
