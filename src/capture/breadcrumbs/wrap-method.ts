// biome-ignore lint/suspicious/noExplicitAny: a wrapper passes on whatever the method takes
type Method = (this: any, ...values: any[]) => any
type Wrap = (original: Method) => Method

/** A wrapper in the place of a method, and all who watch by it, the first nearest to the method. */
interface Wrapper {
  target: object
  name: string
  watchers: { wrap: Wrap }[]
  /** Puts the watchers around the method anew. */
  renew(): void
  /** Puts the method back, where nobody else has wrapped the wrapper meanwhile. */
  restore(): void
}

const wrappers = new WeakMap<object, Wrapper>()

/**
 * Puts a wrapper in the place of a method and gives the function that puts the method back. Several share one wrapper,
 * so that they may end in any order. Where somebody else has wrapped ours meanwhile, theirs stays, and ours passes
 * everything on.
 */
export function wrapMethod(target: object, name: string, wrap: Wrap): () => void {
  // A frozen object (`--frozen-intrinsics` on Node.js 20) is left alone.
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

/** A wrapper of ours that stands there now. One that was copied from another object would watch that one's calls too. */
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
