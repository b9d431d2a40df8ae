import type { ThrowKind } from './site.js'
import { isNode, type Node } from './syntax.js'

/** What is thrown: something made here, the error that was caught, one that was kept, or one that is always the same. */
export function thrownKind(argument: Node, caught: readonly string[], constants: ReadonlySet<string>): ThrowKind {
  const name = rootName(argument)
  if (name === null) return 'made'
  if (argument.type === 'Identifier' && caught.includes(name)) return 'rethrow'
  return constants.has(name) ? 'constant' : 'variable'
}

/** `error`, `this.error` and `Errors.NotFound` are there already; whatever is called or made is not. */
function rootName(node: Node): string | null {
  if (node.type === 'Identifier') return String(node.name)
  if (node.type === 'ThisExpression') return 'this'
  if (node.type === 'MemberExpression' && isNode(node.object)) return rootName(node.object)
  return null
}

/** What the file names once for all at its top: constants, classes and what it imports. */
export function constantNames({ body }: Node): Set<string> {
  const names = new Set<string>()
  for (const statement of body as Node[]) {
    const declared = isNode(statement.declaration) ? statement.declaration : statement
    if (declared.type === 'ImportDeclaration') for (const { local } of declared.specifiers as Node[]) add(names, local)
    if (declared.type === 'ClassDeclaration') add(names, declared.id)
    if (declared.type !== 'VariableDeclaration' || declared.kind !== 'const') continue
    for (const { id } of declared.declarations as Node[]) addAll(names, id)
  }
  return names
}

function addAll(names: Set<string>, pattern: unknown): void {
  if (!isNode(pattern)) return
  add(names, pattern)
  if (pattern.type !== 'ObjectPattern') return
  for (const { value } of pattern.properties as Node[]) add(names, value)
}

function add(names: Set<string>, node: unknown): void {
  if (isNode(node) && node.type === 'Identifier') names.add(String(node.name))
}
