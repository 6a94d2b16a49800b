import { nameKey } from "@xdstp/uri";

import { type Committed, type Interest, interestKey, XdsError } from "@xdstp/core";
import { isDataError } from "../is-data-error.ts";
import type { ClientTypeStatus } from "./client-status.ts";
import type { ClientTypeHost, ClientTypeState } from "./client-type-state.ts";
import { conclude, reject } from "./conclude.ts";
import { askingFault } from "./asking-fault.ts";
import { commitAside } from "./commit-aside.ts";
import { createFetchDeadlines, type FetchDeadlines } from "./fetch-deadlines.ts";
import { giveUp } from "./give-up.ts";
import { takeIn, type Intake } from "./intake.ts";
import { isHeld } from "./is-held.ts";
import { noteError, noteSilence, statusOfWant } from "./note-want.ts";
import { createQuiet, type Quiet } from "./quiet.ts";
import type { ReceivedResponse } from "./received.ts";
import { createRejectionPace } from "./rejection-pace.ts";
import { responseFault } from "./response-fault.ts";
import { retries } from "./retries.ts";
import type { Want } from "./want.ts";
import { Wants } from "./wants.ts";

/** One type of a client end, over all of its streams. */
export interface ClientType {
  readonly typeUrl: string;
  want(added: readonly Interest[], dropped: readonly Interest[]): void;
  /** Something of it is wanted. */
  readonly wanted: boolean;
  /** A stream has begun; nothing of the one before counts (C-DSUB-8, C-RECON-2). */
  begin(): void;
  /** The server is reached: what was asked for is on its way, so time counts (C-MISS-4). */
  reached(): void;
  /** The stream is over. */
  end(): void;
  /** It was asked for on this stream, so what comes is for it (C-TYPE-7). */
  readonly asked: boolean;
  /** It has something to say. */
  readonly due: boolean;
  /** It has something to say for which another stream is needed. */
  readonly anew: boolean;
  /** The next request, without the node. */
  request(): Uint8Array;
  /** Takes a response in and notes its answer; then, at once or later, calls `done` with what has to happen before the next one is read (C-ACK-13). */
  respond(message: Buffer, done: Done): void;
  /** Says again which names have errors of their own: an outage that is over ends what is said of parts of it. */
  tellErrors(): void;
  status(): ClientTypeStatus;
}

/** A response has been taken in. */
export type Done = (response: ReceivedResponse, taken: Promise<void> | undefined) => void;

/** Made when something of the type is wanted for the first time. */
export function createClientType(host: ClientTypeHost, typeUrl: string): ClientType {
  return new Type(host, typeUrl);
}

class Type implements ClientType {
  readonly typeUrl: string;
  readonly #state: ClientTypeState;
  readonly #deadlines: FetchDeadlines;
  readonly #quiet: Quiet;
  /** What was asked of it and cannot be asked of the server (B-TYPE-5, C-GLOB-10), with why. */
  readonly #rejected = new Map<string, { readonly interest: Interest; readonly error: XdsError }>();
  /** Number of streams so far: what comes of an earlier one is not answered. */
  #streams = 0;
  #open = false;
  #reached = false;
  /** A response is being taken in: nothing else is said of the type before its answer (C-ACK-13). */
  #busy = false;
  asked = false;

  constructor(host: ClientTypeHost, typeUrl: string) {
    const {
      context: { clock, random, fetchMs, quietMs, descriptor },
      variant,
    } = host;
    const wants = new Wants();
    this.typeUrl = typeUrl;
    this.#state = {
      host,
      typeUrl,
      wants,
      subscriptions: variant.createSubscriptions(typeUrl, wants, descriptor(typeUrl)),
      unasked: new Set(),
      version: "",
      expires: false,
      nonce: "",
      canary: false,
      begunAt: 0,
      answers: [],
      pace: createRejectionPace(clock, random, () => {
        host.schedule();
      }),
    };
    this.#deadlines = createFetchDeadlines(clock, fetchMs, (overdue) => {
      this.#deadlines.start(giveUp(this.#state, overdue));
      host.waited();
    });
    this.#quiet = createQuiet(clock, quietMs, () => {
      this.#settle();
    });
  }

  /** A type of which nothing is wanted says nothing at first: an empty list would be a wildcard (C-DSUB-11). */
  get due(): boolean {
    const { answers, pace, subscriptions, wants } = this.#state;
    if (this.#busy || !this.#open || pace.waits) return false;
    return answers.length > 0 || (subscriptions.due && (this.asked || wants.size > 0));
  }

  get anew(): boolean {
    return this.#open && !this.#busy && this.#state.subscriptions.anew === true;
  }

  get wanted(): boolean {
    return this.#state.wants.size > 0;
  }

  want(added: readonly Interest[], dropped: readonly Interest[]): void {
    for (const interest of dropped) this.#drop(interest);
    for (const interest of added) this.#add(interest);
    this.#state.pace.hurry();
    if (this.#open) this.#state.host.schedule();
  }

  begin(): void {
    const { wants, subscriptions, unasked, version, expires } = this.#state;
    this.#open = true;
    this.#streams++;
    this.#state.begunAt = this.#state.host.context.clock.now();
    for (const want of wants) {
      Object.assign(want, {
        asked: false,
        askedFirst: false,
        awaited: false,
        begun: false,
        came: undefined,
      });
      unasked.add(want);
    }
    subscriptions.begin(
      wants,
      expires && [...wants].some(({ kind }) => kind !== "name") ? "" : version,
    );
  }

  reached(): void {
    this.#reached = true;
    this.#deadlines.start([...this.#state.wants].filter(({ awaited }) => awaited));
  }

  end(): void {
    this.#open = false;
    this.#reached = false;
    this.asked = false;
    Object.assign(this.#state, { nonce: "", answers: [] });
    this.#state.unasked.clear();
    this.#state.pace.forget();
    this.#deadlines.stop();
    this.#quiet.stop();
  }

  request(): Uint8Array {
    const {
      host: { sink },
      unasked,
      subscriptions,
      answers,
    } = this.#state;
    const bytes = subscriptions.request(answers.shift(), () => sink.held(this.typeUrl));
    for (const want of unasked)
      if (!isKnown(want))
        Object.assign(want, {
          asked: true,
          askedFirst: !this.asked,
          awaited: true,
          leftOut: false,
          unseen: [],
        });
    if (this.#reached) this.#deadlines.start([...unasked]);
    unasked.clear();
    this.asked = true;
    return bytes;
  }

  respond(message: Buffer, done: Done): void {
    const state = this.#state;
    const {
      host: { variant, context, sink },
      wants,
    } = state;
    const response = variant.read(message, this.typeUrl, context);
    Object.assign(state, { nonce: response.nonce, canary: response.canary });
    const fault = responseFault(response, context.limits);
    if (fault !== undefined) {
      reject(state, response, [], fault);
      done(response, undefined);
      return;
    }
    const intake = takeIn(
      { context, typeUrl: this.typeUrl, wants, sink },
      response,
      state.subscriptions.absence?.(response),
    );
    const stream = this.#streams;
    this.#busy = true;
    this.#commit(intake, (committed) => {
      this.#busy = false;
      if (committed instanceof XdsError) reject(state, response, [], committed.text);
      else conclude(state, response, intake, committed.rejected ?? []);
      if (!this.#open || stream !== this.#streams) this.#anew();
      else if (isGrowing(intake.grown)) this.#quiet.touch();
      done(response, committed instanceof XdsError ? undefined : committed.taken);
    });
  }

  tellErrors(): void {
    const {
      wants,
      host: { sink },
    } = this.#state;
    for (const { interest, error } of [...wants, ...this.#rejected.values()])
      if (error !== undefined) sink.unavailable({ typeUrl: this.typeUrl, interest }, error);
  }

  status(): ClientTypeStatus {
    const { version, nonce, canary, wants } = this.#state;
    return {
      typeUrl: this.typeUrl,
      version,
      nonce,
      canary,
      wants: [...wants].map((want) => statusOfWant(this.#state, want)),
    };
  }

  #add(interest: Interest): void {
    const {
      host: { variant, context },
      wants,
      unasked,
      subscriptions,
    } = this.#state;
    const rejection =
      askingFault(interest, this.typeUrl) ??
      variant.rejectionOf?.(interest, context.descriptor(this.typeUrl));
    if (rejection !== undefined) {
      this.#reject(interest, rejection);
      return;
    }
    const want = wants.add(interest);
    if (want === undefined || !this.#open) return;
    unasked.add(want);
    subscriptions.add(want);
  }

  #drop(interest: Interest): void {
    const { wants, unasked, subscriptions } = this.#state;
    const want = wants.drop(interest);
    if (want === undefined) {
      this.#allow(interest);
      return;
    }
    want.awaited = false;
    unasked.delete(want);
    if (want.error !== undefined) noteError(this.#state, want, undefined);
    this.#letOrphansGo();
    if (this.#open) subscriptions.drop(want);
  }

  /** What an alias that has gone would still show goes with the last who wanted it by its name (C-ALIAS-3). */
  #letOrphansGo(): void {
    const {
      typeUrl,
      host: { sink },
      wants,
    } = this.#state;
    const remove = wants
      .takeOrphans()
      .filter((name) => isHeld(sink, typeUrl, { name }))
      .map((name) => ({ typeUrl, name }));
    if (remove.length > 0) commitAside(sink, { remove });
  }

  /** Nothing comes of it, as long as it is wanted. */
  #reject(interest: Interest, reason: string): void {
    const { typeUrl } = this;
    const error = new XdsError("INVALID_ARGUMENT", reason, { typeUrl, resource: interest.name });
    this.#rejected.set(idOf(interest), { interest, error });
    this.#state.host.sink.unavailable({ typeUrl, interest }, error);
  }

  #allow(interest: Interest): void {
    if (this.#rejected.delete(idOf(interest)))
      this.#state.host.sink.unavailable({ typeUrl: this.typeUrl, interest }, undefined);
  }

  /** What was taken in came on a stream that is over: a nonce of it means nothing on the next (B-NONCE-2), which begins with what is held now. */
  #anew(): void {
    Object.assign(this.#state, { nonce: "", answers: [] });
    this.#state.pace.forget();
    if (this.#open) this.begin();
  }

  #commit(
    { put, remove, refresh, complete, settled, reasons }: Intake,
    then: (committed: Committed | XdsError) => void,
  ): void {
    const {
      typeUrl,
      host: { sink },
    } = this.#state;
    const typed = (wants: Intake["complete"]) =>
      wants.map(({ interest, key }) => ({ typeUrl, interest, ...emptiedBy(reasons.get(key)) }));
    if (put.length + remove.length + refresh.length + complete.length + settled.length === 0) {
      then({ revision: 0 });
      return;
    }
    try {
      const { decided, ...committed } = sink.commit({
        put,
        remove,
        refresh,
        complete: typed(complete),
        settled: typed(settled),
      });
      if (decided === undefined) then(committed);
      else
        decided.then(then, (error: unknown) => {
          then(XdsError.from(error));
        });
    } catch (error) {
      then(XdsError.from(error));
    }
  }

  /** For some time nothing more has come of what has begun to come: that is all (C-GLOB-9). */
  #settle(): void {
    const {
      typeUrl,
      wants,
      host: { sink },
    } = this.#state;
    const whole = [...wants].filter(
      (want) =>
        want.kind !== "name" &&
        want.awaited &&
        want.begun &&
        !(want.state === "requested" && retries(this.#state, want, false)),
    );
    for (const want of whole) {
      // What a full state has left out goes when the server must have read the request (C-FULL-3).
      want.awaited = want.unseen.length > 0;
      want.came = undefined;
      noteSilence(this.#state, want);
    }
    if (whole.length > 0)
      commitAside(sink, { settled: whole.map(({ interest }) => ({ typeUrl, interest })) });
  }
}

/** Why a collection as a whole is not there for this client; an error that will pass does not empty it. */
function emptiedBy(error: XdsError | undefined): { readonly error?: XdsError } {
  return error === undefined || !isDataError(error) ? {} : { error };
}

/** A collection that is asked for again, because one of its members was lost, is still what it was: what a response leaves out of it is gone. */
function isKnown({ kind, asked, awaited }: Want): boolean {
  return kind !== "name" && asked && !awaited;
}

/** A collection that is not known to be complete has begun to come, or has a member that had not come before. */
function isGrowing(grown: ReadonlySet<Want>): boolean {
  return grown.values().some(({ awaited }) => awaited);
}

function idOf(interest: Interest): string {
  return interestKey(interest, nameKey(interest.name));
}
