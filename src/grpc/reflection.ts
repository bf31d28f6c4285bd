/**
 * Server reflection, `v1` and `v1alpha`, for clients without a schema: `buf curl`, grpcurl. It needs no
 * key. So its streams have a number and a time, beyond which they end with RESOURCE_EXHAUSTED.
 */
import { type DescFile, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import {
  type handleBidiStreamingCall,
  type Server,
  type ServerDuplexStream,
  status,
  type UntypedHandleCall,
} from "@grpc/grpc-js";
import { ReflectionService } from "@grpc/reflection";
import type { ReportEvent } from "../telemetry/event-log.ts";

/** Open streams of all connections. */
export const MAX_REFLECTIONS = 50;
/** How long a stream may be open, in ms. */
const REFLECTION_TIMEOUT = 60_000;

/**
 * Adds reflection to a server, for the services in `files` and everything that these import.
 *
 * @param report counts streams that are ended: `reflectionLimit`
 */
export function addReflection(
  server: Server,
  files: readonly DescFile[],
  report: ReportEvent,
): void {
  const fileDescriptorProtos = withImports(files).map((file) =>
    Buffer.from(toBinary(FileDescriptorProtoSchema, file.proto)),
  );
  // A package as @grpc/proto-loader describes it, with one entry: of entries, only the files are read.
  const format = "Protocol Buffer 3 EnumDescriptorProto" as const;
  const definition = { everything: { format, type: {}, fileDescriptorProtos } };
  const limit = createLimit(report);
  new ReflectionService(definition).addToServer({
    addService: (service, handlers) => {
      const limited = Object.entries(handlers).map(([name, handler]) => [name, limit(handler)]);
      server.addService(service, Object.fromEntries(limited));
    },
  });
}

/** Limits the streams of all handlers together. */
function createLimit(report: ReportEvent) {
  let open = 0;
  return (reflect: UntypedHandleCall) => (call: ServerDuplexStream<unknown, unknown>) => {
    const end = (details: string) => {
      report("reflectionLimit");
      call.emit("error", { code: status.RESOURCE_EXHAUSTED, details });
    };
    if (open >= MAX_REFLECTIONS) {
      end("too many reflection streams are open");
      return;
    }
    open++;
    const timer = setTimeout(
      () => end("the stream has been open for too long"),
      REFLECTION_TIMEOUT,
    );
    // grpc-js emits it at the end of each call.
    call.once("cancelled", () => {
      open--;
      clearTimeout(timer);
    });
    (reflect as handleBidiStreamingCall<unknown, unknown>)(call);
    // @grpc/reflection answers whatever it reads, whether or not its client does.
    call.on("data", () => {
      if (call.writableNeedDrain) call.pause().once("drain", () => call.resume());
    });
  };
}

function withImports(files: readonly DescFile[]): DescFile[] {
  const found = new Map<string, DescFile>();
  const visit = (file: DescFile) => {
    if (found.has(file.name)) return;
    found.set(file.name, file);
    file.dependencies.forEach(visit);
  };
  files.forEach(visit);
  return [...found.values()];
}
