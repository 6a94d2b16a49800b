export const flagUrl = "type.googleapis.com/acme.v1.Flag";

export const flagName = (path: string): string => `xdstp://acme/acme.v1.Flag/${path}`;
