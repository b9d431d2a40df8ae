import { GLOBALS } from '../site.js'
import type { Edits } from './edits.js'
import { caughtStatement, caughtVariable, type Locate, openArray, thrownSuffix } from './marks.js'
import { PromiseMarker } from './promise-marker.js'
import { handlerKind, throwKind, topLevelConstants } from './site-kinds.js'
import { childNodes, guardedBlock, hasDescendant, isFunction, isNode, type Node } from './syntax.js'

interface Surroundings {
  /** Variable names of caught errors in the enclosing handlers. */
  caughtNames: readonly string[]
  /** Variable name of the error that a `throw` at this point replaces. */
  replacedName: string | null
}

/**
 * Marks `throw` statements, catch blocks and promise handlers. Marks follow the expressions that can appear in a stack,
 * or replace a blank, so that these expressions keep their columns. `reduceRight` on a one-element array calls a function
 * with the value and returns its result.
 *
 * @example
 * `throw new Error('x')` // throw[new Error('x')].reduceRight(globalThis.__faultboard_thrown||((s,e)=>e),"src/a.ts:1:1#made")
 * `catch (error) {`      // catch (error) {try{globalThis.__faultboard_caught?.(error,"src/a.ts:1:3#empty")}catch{};
 * `throw new Other()`    // in this catch block: throw[new Other()].reduceRight(…,["src/a.ts:2:3#made",error])
 */
export class Marker {
  readonly #code: string
  readonly #edits: Edits
  readonly #locate: Locate
  readonly #constantNames: ReadonlySet<string>
  readonly #promises: PromiseMarker

  constructor(code: string, program: Node, edits: Edits, locate: Locate) {
    this.#code = code
    this.#edits = edits
    this.#locate = locate
    this.#constantNames = topLevelConstants(program)
    this.#promises = new PromiseMarker(code, edits, locate)
  }

  mark(node: Node, surroundings: Surroundings = { caughtNames: [], replacedName: null }): void {
    let inner = surroundings
    const guarded = guardedBlock(node)
    if (node.type === 'CatchClause') inner = this.#markCatch(node, surroundings)
    else if (node.type === 'ThrowStatement') this.#markThrow(node, surroundings)
    else if (node.type === 'CallExpression') this.#promises.mark(node)
    else if (isFunction(node))
      inner = { caughtNames: surroundings.caughtNames, replacedName: this.#promises.caughtName(node) }
    // An error thrown in a guarded block does not leave the `try` statement, so it replaces no caught error.
    for (const child of childNodes(node)) this.mark(child, child === guarded ? { ...inner, replacedName: null } : inner)
  }

  #markThrow(node: Node, { caughtNames, replacedName }: Surroundings): void {
    const argument = node.argument as Node
    const location = this.#locate(node.start)
    // A sequence without parentheses would become several array elements.
    if (location === null || (argument.type === 'SequenceExpression' && this.#code[argument.start - 1] !== '(')) return
    openArray(this.#edits, this.#code, node.start + 'throw'.length)
    const kind = throwKind(argument, caughtNames, this.#constantNames)
    const end = this.#code[node.end - 1] === ';' ? node.end - 1 : node.end
    const replaced = argument.name === replacedName ? null : replacedName
    this.#edits.insert(end, thrownSuffix({ location, kind, isPromiseHandler: false }, replaced))
  }

  #markCatch(node: Node, { caughtNames }: Surroundings): Surroundings {
    const body = node.body as Node
    const location = this.#locate(node.start)
    const param = isNode(node.param) ? node.param : null
    const paramName = param?.type === 'Identifier' ? String(param.name) : null
    if (location === null || (param && paramName === null && !this.#isMovablePattern(param))) {
      return { caughtNames: paramName === null ? caughtNames : [...caughtNames, paramName], replacedName: null }
    }
    const name = paramName ?? GLOBALS.error
    const { name: caughtName, declaration } = caughtVariable(body, name)
    const site = { location, kind: handlerKind(body, this.#code), isPromiseHandler: false }
    if (param === null) this.#edits.insert(node.start + 'catch'.length, `(${name})`)
    const pattern = param !== null && paramName === null ? this.#code.slice(param.start, param.end) : null
    if (param && pattern !== null) this.#edits.replace(param.start, pattern.length, name)
    const bindings = pattern === null ? declaration : `let ${pattern}=${name};`
    this.#edits.insert(body.start + 1, `${caughtStatement(name, site)};${bindings}`)
    // A redefined name no longer refers to a caught error.
    const otherNames = caughtNames.filter((other) => other !== name)
    return { caughtNames: caughtName === name ? [...otherNames, name] : otherNames, replacedName: caughtName }
  }

  /** Checks that a pattern can move into the block: it is on one line and does not refer to other names. */
  #isMovablePattern(pattern: Node): boolean {
    const text = this.#code.slice(pattern.start, pattern.end)
    return (
      /^[\p{ID_Continue}$ \t{}[\],:.='"-]*$/u.test(text) && !/\blet\b/.test(text) && !hasDescendant(pattern, isComputed)
    )
  }
}

/** Detects defaults and computed keys that are not literals. */
function isComputed({ type, computed, key, right }: Node): boolean {
  if (type === 'AssignmentPattern') return !isLiteral(right)
  return type === 'Property' && computed === true && !isLiteral(key)
}

function isLiteral(value: unknown): boolean {
  if (!isNode(value)) return false
  return value.type === 'Literal' || (value.type === 'UnaryExpression' && isLiteral(value.argument))
}
