/**
 * Records the messages of xDS streams with their times, and replays the server or the client of a recording.
 *
 * @packageDocumentation
 */
export type { RecordedEvent, RecordedMessage, Recording, RecordingHeader } from "./recording.ts";
export {
  createRecorder,
  observeStream,
  type OpenStream,
  type Recorder,
  type StreamObserver,
} from "./create-recorder.ts";
export { formatEvent, formatHeader, formatRecording, parseRecording } from "./recording-text.ts";
export { readRequest, type ReadRequest, type ReadResource } from "./read-message.ts";
export { createReplayServer, type ReplayServerEvent } from "./create-replay-server.ts";
export { payloadsOf } from "./replay-script.ts";
export { replayClient } from "./replay-client.ts";
export type {
  HeldDifference,
  ReplayClientEvent,
  ReplayClientOptions,
} from "./replay-client-options.ts";
