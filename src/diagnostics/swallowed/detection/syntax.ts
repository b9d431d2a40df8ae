import { type Options, parse } from 'acorn'

/** A node of the tree, as far as anything is known of one that may be any. */
export interface Node {
  type: string
  start: number
  end: number
  [key: string]: unknown
}

export type SourceType = 'module' | 'commonjs'

/** The tree of a file, or null for what is no JavaScript that we know. */
export function parsed(code: string, types: readonly SourceType[]): Node | null {
  for (const sourceType of types) {
    try {
      return parse(code, { ...OPTIONS, sourceType } as Options) as unknown as Node
    } catch {
      // Newer or other syntax, or the other kind of module: whoever runs it tells what is wrong with it.
    }
  }
  return null
}

/** Which of them a tree was read as. */
export function typeOf({ sourceType }: Node): SourceType {
  return sourceType === 'module' ? 'module' : 'commonjs'
}

const OPTIONS: Partial<Options> = { ecmaVersion: 'latest', allowHashBang: true }

/** The nodes right below one, in the order of the text as far as the tree tells it. */
export function childrenOf(node: Node): Node[] {
  const children: Node[] = []
  for (const key in node) {
    const value = node[key]
    if (typeof value !== 'object') continue
    if (isNode(value)) children.push(value)
    else if (Array.isArray(value)) for (const item of value) if (isNode(item)) children.push(item)
  }
  return children
}

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as Node).type === 'string'
}

export function isFunction({ type }: Node): boolean {
  return type === 'FunctionExpression' || type === 'ArrowFunctionExpression' || type === 'FunctionDeclaration'
}

/** Whether something of this kind is below a node, without looking into functions. */
export function some(node: Node, test: (node: Node) => boolean): boolean {
  return hasBelow(node, test, null)
}

/** The same for what is thrown: what stands in a `try` goes no further than its own handler. */
export function someEscapes(node: Node, test: (node: Node) => boolean): boolean {
  return hasBelow(node, test, guardedBlock)
}

/** The block of a `try` that has a handler. */
export function guardedBlock({ type, handler, block }: Node): unknown {
  return type === 'TryStatement' && handler ? block : null
}

function hasBelow(node: Node, test: (node: Node) => boolean, leftOut: ((node: Node) => unknown) | null): boolean {
  for (const child of childrenOf(node)) {
    if (child === leftOut?.(node)) continue
    if (test(child)) return true
    if (!isFunction(child) && hasBelow(child, test, leftOut)) return true
  }
  return false
}
