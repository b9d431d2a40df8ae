// biome-ignore lint/suspicious/noExplicitAny: a wrapper passes on whatever the method takes
type Method = (this: any, ...values: any[]) => any
type Wrap = (original: Method) => Method

/** A wrapper that replaces a method, with its watchers; the first is closest to the method. */
interface Wrapper {
  target: object
  name: string
  watchers: { wrap: Wrap }[]
  /** Rebuilds the chain of watchers around the method. */
  renew(): void
  /** Restores the method, unless other code has wrapped the wrapper. */
  restore(): void
}

const wrappers = new WeakMap<object, Wrapper>()

/**
 * Wraps a method and returns the function that restores it. Several watchers share one wrapper, so that they can end
 * in any order. If other code has wrapped the wrapper, it stays in place and passes calls through.
 */
export function wrapMethod(target: object, name: string, wrap: Wrap): () => void {
  // Frozen objects (`--frozen-intrinsics` on Node.js 20) are not wrapped.
  if (Object.getOwnPropertyDescriptor(target, name)?.configurable === false || !Object.isExtensible(target))
    return () => {}
  const wrapper = wrapperOf(target, name) ?? putWrapper(target, name)
  const watcher = { wrap }
  wrapper.watchers.push(watcher)
  wrapper.renew()
  return () => {
    const at = wrapper.watchers.indexOf(watcher)
    if (at < 0) return
    wrapper.watchers.splice(at, 1)
    wrapper.renew()
    if (wrapper.watchers.length === 0) wrapper.restore()
  }
}

/** The wrapper currently on this object. A wrapper copied from another object would also watch calls on that object. */
function wrapperOf(target: object, name: string): Wrapper | null {
  const value: unknown = Object.getOwnPropertyDescriptor(target, name)?.value
  const wrapper = typeof value === 'function' ? wrappers.get(value) : undefined
  return wrapper?.target === target && wrapper.name === name ? wrapper : null
}

function putWrapper(target: object, name: string): Wrapper {
  const own = Object.getOwnPropertyDescriptor(target, name)
  const original = Reflect.get(target, name) as Method
  let method = original
  const standIn = function (this: unknown, ...values: unknown[]): unknown {
    return Reflect.apply(method, this, values)
  }
  Object.defineProperty(standIn, 'name', { value: original.name, configurable: true })
  Object.defineProperty(standIn, 'length', { value: original.length, configurable: true })
  Object.defineProperty(target, name, {
    value: standIn,
    writable: true,
    configurable: true,
    enumerable: own?.enumerable ?? false,
  })
  const wrapper: Wrapper = {
    target,
    name,
    watchers: [],
    renew() {
      method = wrapper.watchers.reduce((inner, { wrap }) => wrap(inner), original)
    },
    restore() {
      if (Object.getOwnPropertyDescriptor(target, name)?.value !== standIn) return
      if (own) Object.defineProperty(target, name, own)
      else Reflect.deleteProperty(target, name)
    },
  }
  wrappers.set(standIn, wrapper)
  return wrapper
}
