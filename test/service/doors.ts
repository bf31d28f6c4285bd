/** Every door of a running service. */
import { bufCurlDoors } from "./buf-curl.ts";
import { connectDoors, connectNodeGrpcDoor, grpcWebDoors } from "./connect-doors.ts";
import type { Door } from "./door.ts";
import { grpcDoor } from "./grpc-door.ts";
import { restDoor } from "./rest-door.ts";
import type { ServiceProcess } from "./service-process.ts";

/** The names of all doors, for tables of tests that are written before the service runs. */
export const DOORS: readonly string[] = doorsAt("http://0.0.0.0", "0.0.0.0").map(
  (door) => door.name,
);
/** Those that cost no process of their own. */
export const QUICK_DOORS = DOORS.filter((name) => !name.startsWith("buf"));

/** The doors of a service, by their names. `close` them at the end. */
export interface Doors {
  named(name: string): Door;
  close(): void;
}

export function openDoors({ http, grpc }: Pick<ServiceProcess, "http" | "grpc">): Doors {
  const doors = doorsAt(http, grpc);
  return {
    named(name) {
      const door = doors.find((one) => one.name === name);
      if (door === undefined) throw new Error(`there is no door ${name}`);
      return door;
    },
    close() {
      for (const door of doors) door.close();
    },
  };
}

function doorsAt(http: string, grpc: string): readonly Door[] {
  return [
    restDoor(http),
    ...connectDoors(http),
    ...grpcWebDoors(http),
    grpcDoor(grpc),
    connectNodeGrpcDoor(grpc),
    ...bufCurlDoors(http, grpc),
  ];
}
