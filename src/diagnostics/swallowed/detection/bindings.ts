import { childrenOf, isNode, type Node } from './syntax.js'

/** Whether somewhere below a node a name is given another meaning, or another value. */
export function redefines(node: Node, name: string): boolean {
  const targets = TARGETS[node.type]?.flatMap((key) => node[key]) ?? []
  return targets.some((target) => binds(target, name)) || childrenOf(node).some((child) => redefines(child, name))
}

/** Whether `globalThis` might be something else than the global object in some part of a file. */
export function hidesGlobal(code: string, program: Node): boolean {
  return /\bglobalThis\b|\bwith\b|\\u/.test(code) && (redefines(program, 'globalThis') || hasWith(program))
}

const FUNCTION = ['id', 'params']
/** Where the nodes of each type have what they declare or assign to. */
const TARGETS: Readonly<Record<string, readonly string[]>> = {
  VariableDeclarator: ['id'],
  FunctionDeclaration: FUNCTION,
  FunctionExpression: FUNCTION,
  ArrowFunctionExpression: FUNCTION,
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

/** A default in a pattern reads names, and is none of them. */
function binds(target: unknown, name: string): boolean {
  if (!isNode(target)) return false
  if (target.type === 'Identifier') return target.name === name
  const { properties, elements, value, left, argument } = target
  if (target.type === 'ObjectPattern') return (properties as Node[]).some((property) => binds(property, name))
  if (target.type === 'ArrayPattern') return (elements as Node[]).some((element) => binds(element, name))
  if (target.type === 'Property') return binds(value, name)
  if (target.type === 'AssignmentPattern') return binds(left, name)
  return target.type === 'RestElement' && binds(argument, name)
}

function hasWith(node: Node): boolean {
  return node.type === 'WithStatement' || childrenOf(node).some(hasWith)
}
