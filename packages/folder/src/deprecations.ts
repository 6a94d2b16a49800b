import {
  type DescEnum,
  type DescField,
  type DescMessage,
  getOption,
  type Registry,
} from "@bufbuild/protobuf";
import { isReflectList, isReflectMap, type ReflectMessage } from "@bufbuild/protobuf/reflect";
import type { ResourceFault } from "./folder-context.ts";
import { shownField } from "./json-path-of.ts";
import { eachMessage } from "./envoy-checks/visit-messages.ts";

/** Returns the deprecated fields and values that are set in a message, and in all messages within it. */
export type DeprecationCheck = (message: ReflectMessage) => readonly ResourceFault[];

/** Creates a check for deprecated fields and enum values, as the descriptors of the registry mark them. */
export function createDeprecationCheck(registry: Registry): DeprecationCheck {
  const marks = marksOf(registry);
  const marked = createMarkedFields();
  return (outermost) => {
    const faults: ResourceFault[] = [];
    eachMessage(
      { message: outermost, path: [], above: undefined },
      registry,
      ({ message, path }) => {
        for (const field of marked(message.desc)) {
          if (!message.isSet(field)) continue;
          const at = [
            ...path,
            { kind: "field", name: field.name, jsonName: field.jsonName } as const,
          ];
          const found = field.deprecated
            ? [faultOf(marks.ofField(field), "")]
            : valuesOf(message, field).flatMap(({ number, desc }) => {
                const value = desc.value[number];
                return value?.deprecated === true
                  ? [faultOf(marks.ofValue(value), ` the value ${value.name}`)]
                  : [];
              });
          for (const { code, text, hint } of found)
            faults.push({ path: at, code, message: `${shownField(at)}${text}`, hint });
        }
      },
    );
    return faults;
  };
}

/** Returns a function that knows the fields of a message that are deprecated or have values that may be. */
function createMarkedFields(): (desc: DescMessage) => readonly DescField[] {
  const known = new Map<DescMessage, readonly DescField[]>();
  return (desc) => {
    const fields =
      known.get(desc) ?? desc.fields.filter((field) => field.deprecated || mayBeDeprecated(field));
    known.set(desc, fields);
    return fields;
  };
}

function mayBeDeprecated({ enum: desc }: DescField): boolean {
  return desc?.values.some(({ deprecated }) => deprecated) === true;
}

/** The deprecation of a field or value. */
interface Mark {
  /** The version of the Envoy API that deprecated it, such as `3.0`. `undefined`: unknown. */
  readonly since: string | undefined;
  /** true: Envoy rejects it unless its runtime allows deprecated features. */
  readonly isDisallowed: boolean;
}

/** Returns functions that read Envoy's own options of fields and values. A registry without these options has only `deprecated`. */
function marksOf(registry: Registry) {
  const option = (name: string) => registry.getExtension(`envoy.annotations.${name}`);
  const field = {
    since: option("deprecated_at_minor_version"),
    disallowed: option("disallowed_by_default"),
  };
  const value = {
    since: option("deprecated_at_minor_version_enum"),
    disallowed: option("disallowed_by_default_enum"),
  };
  const markOf = (
    desc: DescField | DescEnum["values"][number],
    { since, disallowed }: typeof field,
  ): Mark => {
    const version = since === undefined ? "" : getOption(desc, since);
    return {
      since: typeof version === "string" && version !== "" ? version : undefined,
      isDisallowed: disallowed !== undefined && getOption(desc, disallowed) === true,
    };
  };
  return {
    ofField: (desc: DescField): Mark => markOf(desc, field),
    ofValue: (desc: DescEnum["values"][number]): Mark => markOf(desc, value),
  };
}

function faultOf(
  { since, isDisallowed }: Mark,
  of: string,
): Required<Pick<ResourceFault, "code" | "hint">> & { readonly text: string } {
  const version = since === undefined ? "" : ` since ${since}`;
  const text = of === "" ? ` is deprecated${version}` : `:${of} is deprecated${version}`;
  return isDisallowed
    ? {
        code: "disallowed",
        text: `${text}, and Envoy rejects it`,
        hint: "remove it, or let the runtime of Envoy have envoy.features.enable_all_deprecated_features",
      }
    : { code: "deprecated", text, hint: "the API documentation names what replaces it" };
}

/** Returns the numbers of an enum field: one for each item if it is a list or a map. */
function valuesOf(
  message: ReflectMessage,
  field: DescField,
): readonly { readonly number: number; readonly desc: DescEnum }[] {
  const desc = field.enum;
  if (desc === undefined) return [];
  const value: unknown = message.get(field);
  const items = isReflectList(value)
    ? [...value]
    : isReflectMap(value)
      ? [...value.values()]
      : [value];
  return items.map((number) => ({ number: Number(number), desc }));
}
