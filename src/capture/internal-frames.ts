/** The folder that all of our own modules lie in, whether they are bundled or not. */
const OWN = new URL(import.meta.url).pathname.replace(/\/(?:chunks|capture)\/[^/]*$/, '/')

/** Whether a line of a stack is of the tracker itself. */
export function isOwnFrame(line: string): boolean {
  return line.includes(OWN)
}
