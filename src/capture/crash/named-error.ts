/** An error of our own making: what happened to a process, under a name, with frames of the host's or with none. */
export function namedError(name: string, message: string, frames: readonly string[] = []): Error {
  const error = new Error(message)
  const stack = [`${name}: ${message}`, ...frames].join('\n')
  return Object.defineProperties(error, { name: { value: name }, stack: { value: stack } })
}
