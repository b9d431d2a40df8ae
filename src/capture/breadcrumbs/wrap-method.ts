// biome-ignore lint/suspicious/noExplicitAny: a wrapper passes on whatever the method takes
type Method = (this: any, ...values: any[]) => any
type Wrap = (original: Method) => Method

/** A wrapper that replaces a method, with its watchers; the first is closest to the method. */
interface Wrapper {
  target: object
  name: string
  watchers: { wrap: Wrap }[]
  /** Rebuilds the chain of watchers around the method. */
  rebuild(): void
  /** Restores the method, unless other code has wrapped the wrapper. */
  restore(): void
}

const wrappers = new WeakMap<object, Wrapper>()

/**
 * Wraps a method and returns the function that restores it. Watchers share one wrapper, so that they can be removed in
 * any order. A wrapper that other code has wrapped stays in place and passes calls through.
 */
export function wrapMethod(target: object, name: string, wrap: Wrap): () => void {
  // Frozen objects (`--frozen-intrinsics` on Node.js 20) are not wrapped.
  if (Object.getOwnPropertyDescriptor(target, name)?.configurable === false || !Object.isExtensible(target))
    return () => {}
  const wrapper = findWrapper(target, name) ?? installWrapper(target, name)
  const watcher = { wrap }
  wrapper.watchers.push(watcher)
  wrapper.rebuild()
  return () => {
    const index = wrapper.watchers.indexOf(watcher)
    if (index < 0) return
    wrapper.watchers.splice(index, 1)
    wrapper.rebuild()
    if (wrapper.watchers.length === 0) wrapper.restore()
  }
}

/**
 * Returns the wrapper of this object. Ignores a wrapper copied from another object, which would also watch calls on the
 * other object.
 */
function findWrapper(target: object, name: string): Wrapper | null {
  const value: unknown = Object.getOwnPropertyDescriptor(target, name)?.value
  const wrapper = typeof value === 'function' ? wrappers.get(value) : undefined
  return wrapper?.target === target && wrapper.name === name ? wrapper : null
}

function installWrapper(target: object, name: string): Wrapper {
  const ownDescriptor = Object.getOwnPropertyDescriptor(target, name)
  const original = Reflect.get(target, name) as Method
  let method = original
  const replacement = function (this: unknown, ...values: unknown[]): unknown {
    return Reflect.apply(method, this, values)
  }
  Object.defineProperty(replacement, 'name', { value: original.name, configurable: true })
  Object.defineProperty(replacement, 'length', { value: original.length, configurable: true })
  Object.defineProperty(target, name, {
    value: replacement,
    writable: true,
    configurable: true,
    enumerable: ownDescriptor?.enumerable ?? false,
  })
  const wrapper: Wrapper = {
    target,
    name,
    watchers: [],
    rebuild() {
      method = wrapper.watchers.reduce((inner, { wrap }) => wrap(inner), original)
    },
    restore() {
      if (Object.getOwnPropertyDescriptor(target, name)?.value !== replacement) return
      if (ownDescriptor) Object.defineProperty(target, name, ownDescriptor)
      else Reflect.deleteProperty(target, name)
    },
  }
  wrappers.set(replacement, wrapper)
  return wrapper
}
