/**
 * Comments of a proto file as Markdown.
 *
 * They are in the file's source information, which buf passes to code generators. Generated code
 * and reflection do not have it.
 *
 * @see https://github.com/protocolbuffers/protobuf/blob/v33.0/src/google/protobuf/descriptor.proto#L1161
 */
import type { AnyDesc, DescFile } from "@bufbuild/protobuf";
import {
  DescriptorProtoSchema,
  FileDescriptorProtoSchema,
  ServiceDescriptorProtoSchema,
} from "@bufbuild/protobuf/wkt";

/** A declaration that can have a comment in the document. */
export type Commented = Extract<AnyDesc, { kind: "service" | "rpc" | "message" | "field" }>;

/**
 * The comment above a declaration: paragraphs on one line each, with an empty line between them, and fields by their
 * JSON names; "" without a comment. Throws an Error if the file has no source information.
 */
export function commentOf(desc: Commented): string {
  const { name, proto } = fileOf(desc);
  if (proto.sourceCodeInfo === undefined) throw new Error(`${name} has no source information`);
  const path = pathOf(desc).join();
  const location = proto.sourceCodeInfo.location.find((one) => one.path.join() === path);
  return withJsonNames(unwrap(location?.leadingComments ?? ""), fileOf(desc));
}

/** The first sentence of a comment, without its full stop. */
export function summaryOf(comment: string): string {
  const [sentence = comment] = /^.*?(?=\.(?:\s+\p{Lu}|$))/su.exec(comment) ?? [];
  return sentence;
}

/** A comment that starts with the name of what it describes, without the name: "Returns …". */
export function withoutName(comment: string, name: string): string {
  if (!comment.startsWith(`${name} `)) return comment;
  const rest = comment.slice(name.length + 1);
  return rest.charAt(0).toUpperCase() + rest.slice(1);
}

/** Writes `pageToken` for `page_token`, which is no name in JSON. */
function withJsonNames(comment: string, { messages }: DescFile): string {
  const fields = messages.flatMap((message) => message.fields);
  return comment.replaceAll(/(?<=`)\w+(?=`)/g, (word) => {
    return fields.find(({ name }) => name === word)?.jsonName ?? word;
  });
}

/** Joins the lines of each paragraph, and of each item of a list. */
function unwrap(comment: string): string {
  return comment
    .trim()
    .replaceAll(/[^\S\n]*\n[^\S\n]*/g, "\n")
    .replaceAll(/(?<!\n)\n(?![\n-])/g, " ");
}

function fileOf(desc: Commented): DescFile {
  return desc.kind === "field" || desc.kind === "rpc" ? desc.parent.file : desc.file;
}

/** Where a declaration is in its file: numbers of fields and indexes, in turn. */
function pathOf(desc: Commented): readonly number[] {
  switch (desc.kind) {
    case "service":
      return [
        FileDescriptorProtoSchema.field.service.number,
        desc.file.proto.service.indexOf(desc.proto),
      ];
    case "rpc":
      return [
        ...pathOf(desc.parent),
        ServiceDescriptorProtoSchema.field.method.number,
        desc.parent.proto.method.indexOf(desc.proto),
      ];
    case "field":
      return [
        ...pathOf(desc.parent),
        DescriptorProtoSchema.field.field.number,
        desc.parent.proto.field.indexOf(desc.proto),
      ];
    case "message":
      return desc.parent === undefined
        ? [
            FileDescriptorProtoSchema.field.messageType.number,
            desc.file.proto.messageType.indexOf(desc.proto),
          ]
        : [
            ...pathOf(desc.parent),
            DescriptorProtoSchema.field.nestedType.number,
            desc.parent.proto.nestedType.indexOf(desc.proto),
          ];
  }
}
