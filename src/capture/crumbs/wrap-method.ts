// biome-ignore lint/suspicious/noExplicitAny: a wrapper passes on whatever the method takes
type Method = (this: any, ...values: any[]) => any

/**
 * Puts a wrapper in the place of a method and gives the function that puts the method back. Where somebody else has
 * wrapped ours meanwhile, theirs stays, and ours passes everything on.
 */
export function wrapMethod(target: object, name: string, wrap: (original: Method) => Method): () => void {
  const own = Object.getOwnPropertyDescriptor(target, name)
  const original = Reflect.get(target, name) as Method
  const watching = wrap(original)
  let active = true
  const wrapper = function (this: unknown, ...values: unknown[]): unknown {
    return Reflect.apply(active ? watching : original, this, values)
  }
  Object.defineProperty(wrapper, 'name', { value: original.name, configurable: true })
  Object.defineProperty(wrapper, 'length', { value: original.length, configurable: true })
  Object.defineProperty(target, name, {
    value: wrapper,
    writable: true,
    configurable: true,
    enumerable: own?.enumerable ?? false,
  })
  return () => {
    active = false
    if (Object.getOwnPropertyDescriptor(target, name)?.value !== wrapper) return
    if (own) Object.defineProperty(target, name, own)
    else Reflect.deleteProperty(target, name)
  }
}
