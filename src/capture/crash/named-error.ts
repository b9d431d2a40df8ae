/** Creates an error that describes an event of a process, with the given name and frames. */
export function namedError(name: string, message: string, frames: readonly string[] = []): Error {
  const error = new Error(message)
  const stack = [`${name}: ${message}`, ...frames].join('\n')
  return Object.defineProperties(error, { name: { value: name }, stack: { value: stack } })
}
