// The script of a page: it shows the flag `button` by the OFREP provider for the web. The query of the page has the server.
import { OFREPWebProvider } from "@openfeature/ofrep-web-provider";
import { OpenFeature, type Provider, ProviderEvents } from "@openfeature/web-sdk";

/** The parts of a page that this script uses; the types of this package are those of Node. */
interface Page {
  readonly location: { readonly search: string };
  readonly document: {
    querySelector(selector: "output"): {
      textContent: string;
      setAttribute(name: string, value: string): void;
    };
  };
}

const { location, document } = globalThis as unknown as Page;
const baseUrl = new URLSearchParams(location.search).get("server") ?? "";
const provider = new OFREPWebProvider({ baseUrl });
await OpenFeature.setContext({ targetingKey: "user-1", plan: "pro" });
// The types of the provider are not written for exactOptionalPropertyTypes.
await OpenFeature.setProviderAndWait(provider as Provider);
const client = OpenFeature.getClient();
const show = (): void => {
  const { value, reason } = client.getStringDetails("button", "default");
  const output = document.querySelector("output");
  output.setAttribute("data-phase", reason ?? "");
  output.textContent = value;
};
OpenFeature.addHandler(ProviderEvents.ConfigurationChanged, show);
OpenFeature.addHandler(ProviderEvents.Ready, show);
show();
