/** Shows the name of a server or an instance. */
import { visibleName } from "./visible-name.ts";

/** A name in letters from right to left turns nothing beside it. */
export function Name({ name, id }: { readonly name: string; readonly id: string }) {
  const text = visibleName(name, id);
  return (
    <bdi class="name" title={text}>
      {text}
    </bdi>
  );
}
