import { type Options, parse } from 'acorn'
import { walk } from 'estree-walker'

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

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as Node).type === 'string'
}

export function isFunction({ type }: Node): boolean {
  return type === 'FunctionExpression' || type === 'ArrowFunctionExpression' || type === 'FunctionDeclaration'
}

/** Checks for the block of a `try` statement with a handler. Errors thrown in it do not leave the statement. */
export function isGuardedBlock(node: Node, parent: Node | null): boolean {
  return parent?.type === 'TryStatement' && parent.block === node && parent.handler !== null
}

interface Visitor {
  enter(this: { skip(): void }, node: Node, parent: Node | null): void
  leave?(): void
}

/** `walk` with the node type of this file. */
export const walkTree = walk as unknown as (root: Node, visitor: Visitor) => void

/** Checks whether a node of a tree passes a test. Does not visit skipped nodes. */
export function someNode(
  root: Node,
  test: (node: Node) => boolean,
  isSkipped: (node: Node, parent: Node | null) => boolean = () => false,
): boolean {
  let isFound = false
  walkTree(root, {
    enter(node, parent) {
      if (isFound || isSkipped(node, parent)) this.skip()
      else isFound = test(node)
    },
  })
  return isFound
}

/** Checks whether a node outside of nested functions passes a test. */
export function someOwnNode(root: Node, test: (node: Node) => boolean): boolean {
  return someNode(root, test, isFunction)
}

/** Checks whether a node outside of nested functions and guarded `try` blocks passes a test. */
export function someUnguardedNode(root: Node, test: (node: Node) => boolean): boolean {
  return someNode(root, test, (node, parent) => isFunction(node) || isGuardedBlock(node, parent))
}
