/** A shop. */
export interface Shop {
  /** The main one first. */
  readonly hosts: readonly [string, ...string[]];
  /** Its virtual IP. */
  readonly vip: string;
  /** Its port on loopback. Absent: nobody answers for it yet. */
  readonly port?: number;
}

/** All shops. A real program would have a database. */
export interface Shops {
  byHost(host: string): Shop | undefined;
  byVip(vip: string): Shop | undefined;
  /** Opens a shop, or moves it to where it is now. */
  open(shop: Shop): void;
  close(shop: Shop): void;
  /** Calls back after each opening and closing. */
  onChanged(listener: () => void): void;
}

/** No shop is open yet. */
export function createShops(): Shops {
  const shops = new Map<string, Shop>();
  const listeners: (() => void)[] = [];
  const find = (fits: (shop: Shop) => boolean): Shop | undefined => [...shops.values()].find(fits);
  const tell = (): void => {
    for (const listener of listeners) listener();
  };
  return {
    byHost: (host) => find(({ hosts }) => hosts.includes(host)),
    byVip: (vip) => find((shop) => shop.vip === vip),
    open(shop) {
      shops.set(shop.hosts[0], shop);
      tell();
    },
    close({ hosts }) {
      shops.delete(hosts[0]);
      tell();
    },
    onChanged(listener) {
      listeners.push(listener);
    },
  };
}
