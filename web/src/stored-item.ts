/**
 * What the page keeps in the browser. If a person blocks site data, reading it throws: then nothing is
 * kept, and the page works until it is closed.
 */
export function storedItem(kept: "sessionStorage" | "localStorage", name: string) {
  const use = <T>(access: (storage: Storage) => T): T | undefined => {
    try {
      return access(window[kept]);
    } catch {
      return undefined;
    }
  };
  return {
    read: () => use((storage) => storage.getItem(name)) ?? undefined,
    write: (text: string) => use((storage) => storage.setItem(name, text)),
    remove: () => use((storage) => storage.removeItem(name)),
  };
}
