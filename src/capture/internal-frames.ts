/** Folder that contains all modules of this package, bundled or not. */
const OWN_FRAME = new URL(import.meta.url).pathname.replace(/\/(?:chunks|capture)\/[^/]*$/, '/')

/** Whether a stack line belongs to the tracker itself. */
export function isOwnFrame(line: string): boolean {
  return line.includes(OWN_FRAME)
}
