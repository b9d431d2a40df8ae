import { type Options, parse } from 'acorn'

/** Syntax tree node of any type. */
export interface Node {
  type: string
  start: number
  end: number
  [key: string]: unknown
}

export type SourceType = 'module' | 'commonjs'

/** Parses a file as the first source type that fits. Returns null if none does. */
export function parseProgram(code: string, types: readonly SourceType[]): Node | null {
  for (const sourceType of types) {
    try {
      return parse(code, { ...OPTIONS, sourceType } as Options) as unknown as Node
    } catch {
      // Unsupported syntax or another source type. Node.js reports real syntax errors when it runs the file.
    }
  }
  return null
}

export function programType({ sourceType }: Node): SourceType {
  return sourceType === 'module' ? 'module' : 'commonjs'
}

const OPTIONS: Partial<Options> = { ecmaVersion: 'latest', allowHashBang: true }

/** Returns the direct children of a node in source order. */
export function childNodes(node: Node): Node[] {
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

/** Checks whether a descendant passes a test. Skips nested functions. */
export function hasDescendant(node: Node, test: (node: Node) => boolean): boolean {
  return someDescendant(node, test, null)
}

/** Checks whether a descendant outside of guarded `try` blocks passes a test. Skips nested functions. */
export function hasUnguardedDescendant(node: Node, test: (node: Node) => boolean): boolean {
  return someDescendant(node, test, guardedBlock)
}

/** Returns the block of a `try` statement with a handler. Errors thrown in it do not leave the statement. */
export function guardedBlock({ type, handler, block }: Node): unknown {
  return type === 'TryStatement' && handler ? block : null
}

function someDescendant(
  node: Node,
  test: (node: Node) => boolean,
  skippedChild: ((node: Node) => unknown) | null,
): boolean {
  for (const child of childNodes(node)) {
    if (child === skippedChild?.(node)) continue
    if (test(child)) return true
    if (!isFunction(child) && someDescendant(child, test, skippedChild)) return true
  }
  return false
}
