import { Agent, type IncomingMessage, get } from "node:http";
import { onTestFinished } from "vitest";

/** Makes HTTP requests to one URL over connections that are kept, for the time of the test: cheap enough for a load. Gives the body; throws the status where it is not success. */
export function useHttpCaller(url: string): () => Promise<string> {
  const agent = new Agent({ keepAlive: true });
  onTestFinished(() => {
    agent.destroy();
  });
  return () =>
    new Promise((resolve, reject) => {
      const request = get(url, { agent, timeout: 30_000 }, (response) => {
        read(response, resolve, reject);
      });
      request.on("timeout", () => {
        request.destroy(new Error("no answer within 30 s"));
      });
      request.on("error", reject);
    });
}

function read(
  response: IncomingMessage,
  resolve: (text: string) => void,
  reject: (error: Error) => void,
): void {
  let text = "";
  response.setEncoding("utf8");
  response.on("data", (part: string) => {
    text += part;
  });
  response.on("error", reject);
  response.on("end", () => {
    if (response.statusCode === 200) resolve(text);
    else
      reject(new Error(`${response.statusCode ?? 0} ${text} ${JSON.stringify(response.headers)}`));
  });
}
