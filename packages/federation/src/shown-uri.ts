/** Returns the URI of a server for display, without the password that a URL of a transport may have. */
export function shownUri(uri: string): string {
  return uri.replace(/:\/\/[^/?#]*@/, "://***@");
}
