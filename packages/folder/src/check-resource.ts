import { create, type DescMessage, type Registry } from "@bufbuild/protobuf";
import type { ReflectMessage } from "@bufbuild/protobuf/reflect";
import { type Any, AnySchema } from "@bufbuild/protobuf/wkt";
import type { AnyBytes } from "@xdstp/core";
import { ListCollectionSchema } from "@xdstp/protos/xds";
import { typeUrlOf } from "@xdstp/resource-types";
import { memberTypeOf, typeFromTypeUrl } from "@xdstp/uri";
import { createValidator, type PathStep } from "@xdstp/validate";
import { createDeprecationCheck } from "./deprecations.ts";
import { checkEnvoy } from "./envoy-checks/check-envoy.ts";
import type { Rejection } from "./envoy-checks/run-checks.ts";
import { typedStructs } from "./envoy-checks/typed-structs.ts";
import { unpackAny, type VisitedMessage, visitMessages } from "./envoy-checks/visit-messages.ts";
import type {
  FolderContext,
  ResourceCheck,
  ResourceClient,
  ResourceFault,
} from "./folder-context.ts";
import { checkGrpc } from "./grpc-checks/check-grpc.ts";
import { shownField } from "./json-path-of.ts";
import { nameFieldOf } from "./place.ts";

/** Creates a check of everything that can be known of a single resource: the rules in its descriptors, and the checks of its clients. */
export async function createResourceCheck(
  context: Pick<FolderContext, "registry" | "types" | "clients">,
): Promise<ResourceCheck> {
  const { registry, clients } = context;
  const described = await createContentCheck(context);
  return ({ resource: { payload } }) => {
    const content = contentOf(payload, registry);
    return [
      ...described(content),
      ...clients.flatMap((client) => rejectionsOf(client, content, registry)),
    ];
  };
}

/** Creates a check of the rules in descriptors: constraints of messages (`validate.rules` of the Envoy API and `buf.validate`), and deprecations. */
export async function createDescriptorCheck(
  context: Pick<FolderContext, "registry" | "types">,
): Promise<ResourceCheck> {
  const check = await createContentCheck(context);
  return ({ resource: { payload } }) => check(contentOf(payload, context.registry));
}

/** A payload that is decoded once, for all checks. */
interface Content {
  readonly any: Any;
  /** The content of the payload. Absent: its type is not known, or the bytes are not of it. */
  readonly message: ReflectMessage | undefined;
  /** The type of the members. Absent: the payload is not a list. */
  readonly members: DescMessage | undefined;
}

function contentOf(payload: AnyBytes, registry: Registry): Content {
  const members = memberOfList(payload.typeUrl, registry);
  const typeUrl = members === undefined ? payload.typeUrl : listUrl;
  const any = create(AnySchema, { typeUrl, value: payload.value });
  return { any, message: unpackAny(any, registry), members };
}

async function createContentCheck({
  registry,
  types,
}: Pick<FolderContext, "registry" | "types">): Promise<
  (content: Content) => readonly ResourceFault[]
> {
  const validator = await createValidator({ registry });
  const adviceOn = createDeprecationCheck(registry);
  return ({ any, message: content, members }) => {
    const nameField = members && nameFieldOf(members, types.get(typeUrlOf(members.typeName)));
    const structs = hasStructs(any) && content !== undefined ? structsIn(content, registry) : [];
    const violations = [
      ...validator.check(AnySchema, any),
      ...structs.flatMap(({ message, path: above }) =>
        validator
          .check(message.desc, message.message)
          .map(({ path, ...violation }) => ({ ...violation, path: [...above, ...path] })),
      ),
    ]
      .filter(({ path }) => nameField === undefined || !isNameOfEntry(path, nameField.name))
      .map(({ path, message, rule }): ResourceFault => ({
        path,
        code: "constraint",
        message: path.length === 0 ? message : `${shownField(path)} ${message}`,
        rule,
      }));
    return content === undefined ? violations : [...violations, ...adviceOn(content)];
  };
}

/** Returns true if a payload may have a `TypedStruct`. Only few have one, so the others are not walked again. */
function hasStructs({ value }: Any): boolean {
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength).includes(".TypedStruct");
}

/** Returns the messages that are written as a `TypedStruct`. */
function structsIn(content: ReflectMessage, registry: Registry): readonly VisitedMessage[] {
  return visitMessages({ message: content, path: [], above: undefined }, registry).filter(
    ({ above, message }) =>
      above !== undefined &&
      typedStructs.has(above.message.desc.typeName) &&
      !typedStructs.has(message.desc.typeName),
  );
}

/** The checks of each kind of client, for problems that constraints do not find. Files that resources name are not checked, since they are on the machine of Envoy. */
const clientChecks: Readonly<
  Record<ResourceClient, (content: ReflectMessage, registry: Registry) => readonly Rejection[]>
> = {
  envoy: (content, registry) => checkEnvoy(content, { registry }),
  grpc: checkGrpc,
};

function rejectionsOf(
  client: ResourceClient,
  { message: content, members }: Content,
  registry: Registry,
): readonly ResourceFault[] {
  if (content === undefined || members !== undefined) return [];
  return clientChecks[client](content, registry).map(({ message, ...rejection }) => ({
    ...rejection,
    message: rejection.path.length === 0 ? message : `${shownField(rejection.path)}: ${message}`,
  }));
}

/** Returns true for the path of the name in the payload of an inline entry. This name may be empty, since the list and the name of the entry identify the resource. */
function isNameOfEntry(path: readonly PathStep[], nameField: string): boolean {
  const last = path.at(-1);
  return path.length === nameSteps && last?.kind === "field" && last.name === nameField;
}

/** The number of steps in a path like `entries[0].inline_entry.resource.name`. */
const nameSteps = 5;

const listUrl = typeUrlOf(ListCollectionSchema.typeName);

/** Returns true if a type is a list collection. All lists have the same form, whatever their descriptor is: decoded with the descriptor of some Envoy types, only one entry would remain (B-LIST-1). */
export function isList(typeUrl: string, registry: Registry): boolean {
  return memberOfList(typeUrl, registry) !== undefined;
}

function memberOfList(typeUrl: string, registry: Registry): DescMessage | undefined {
  const members = memberTypeOf(typeFromTypeUrl(typeUrl) ?? "");
  return members === undefined ? undefined : registry.getMessage(members);
}
