import { isNode, type Node, someNode } from './syntax.js'

/** Checks whether a node or its descendants declare or assign a name. */
export function redefines(root: Node, name: string): boolean {
  return someNode(root, (node) => bindsName(node, name))
}

/** Checks whether `globalThis` can refer to something other than the global object anywhere in a file. */
export function shadowsGlobalThis(code: string, program: Node): boolean {
  if (!/\bglobalThis\b|\bwith\b|\\u/.test(code)) return false
  return someNode(program, (node) => node.type === 'WithStatement' || bindsName(node, 'globalThis'))
}

function bindsName(node: Node, name: string): boolean {
  return BINDING_KEYS[node.type]?.flatMap((key) => node[key]).some((target) => binds(target, name)) ?? false
}

const FUNCTION_KEYS = ['id', 'params']
/** Properties that contain declared or assigned names, by node type. */
const BINDING_KEYS: Readonly<Record<string, readonly string[]>> = {
  VariableDeclarator: ['id'],
  FunctionDeclaration: FUNCTION_KEYS,
  FunctionExpression: FUNCTION_KEYS,
  ArrowFunctionExpression: FUNCTION_KEYS,
  ClassDeclaration: ['id'],
  ClassExpression: ['id'],
  CatchClause: ['param'],
  ImportSpecifier: ['local'],
  ImportDefaultSpecifier: ['local'],
  ImportNamespaceSpecifier: ['local'],
  AssignmentExpression: ['left'],
  ForInStatement: ['left'],
  ForOfStatement: ['left'],
  UpdateExpression: ['argument'],
}

/** Checks whether a pattern binds a name. Default values only read names, so they are skipped. */
function binds(pattern: unknown, name: string): boolean {
  if (!isNode(pattern)) return false
  if (pattern.type === 'Identifier') return pattern.name === name
  const { properties, elements, value, left, argument } = pattern
  if (pattern.type === 'ObjectPattern') return (properties as Node[]).some((property) => binds(property, name))
  if (pattern.type === 'ArrayPattern') return (elements as Node[]).some((element) => binds(element, name))
  if (pattern.type === 'Property') return binds(value, name)
  if (pattern.type === 'AssignmentPattern') return binds(left, name)
  return pattern.type === 'RestElement' && binds(argument, name)
}
