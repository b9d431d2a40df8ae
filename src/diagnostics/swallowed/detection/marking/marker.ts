import type MagicString from 'magic-string'
import { GLOBALS } from '../site.js'
import { caughtStatement, caughtVariable, type Locate, openArray, thrownSuffix } from './marks.js'
import { PromiseMarker } from './promise-marker.js'
import { handlerKind, throwKind, topLevelConstants } from './site-kinds.js'
import { isFunction, isGuardedBlock, isNode, type Node, someOwnNode, walkTree } from './syntax.js'

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
 * `throw new Error('x')` // throw[new Error('x')].reduceRight(globalThis.__faultboard_thrown||((s,e)=>e),"src/a.ts:1:1#new")
 * `catch (error) {`      // catch (error) {try{globalThis.__faultboard_caught?.(error,"src/a.ts:1:3#empty")}catch{};
 * `throw new Other()`    // in this catch block: throw[new Other()].reduceRight(…,["src/a.ts:2:3#new",error])
 */
export class Marker {
  readonly #code: string
  readonly #text: MagicString
  readonly #locate: Locate
  readonly #constantNames: ReadonlySet<string>
  readonly #promises: PromiseMarker

  constructor(text: MagicString, program: Node, locate: Locate) {
    this.#code = text.original
    this.#text = text
    this.#locate = locate
    this.#constantNames = topLevelConstants(program)
    this.#promises = new PromiseMarker(text, locate)
  }

  mark(program: Node): void {
    const path: Surroundings[] = [{ caughtNames: [], replacedName: null }]
    walkTree(program, {
      enter: (node, parent) => {
        const outer = path.at(-1) as Surroundings
        // An error thrown in a guarded block does not leave the `try` statement, so it replaces no caught error.
        path.push(this.#markNode(node, isGuardedBlock(node, parent) ? { ...outer, replacedName: null } : outer))
      },
      leave: () => {
        path.pop()
      },
    })
  }

  /** Marks a node. Returns the surroundings of its children. */
  #markNode(node: Node, surroundings: Surroundings): Surroundings {
    if (node.type === 'CatchClause') return this.#markCatch(node, surroundings)
    if (isFunction(node)) return { ...surroundings, replacedName: this.#promises.caughtName(node) }
    if (node.type === 'ThrowStatement') this.#markThrow(node, surroundings)
    else if (node.type === 'CallExpression') this.#promises.mark(node)
    return surroundings
  }

  #markThrow(node: Node, { caughtNames, replacedName }: Surroundings): void {
    const argument = node.argument as Node
    const location = this.#locate(node.start)
    // A sequence without parentheses would become several array elements.
    if (location === null || (argument.type === 'SequenceExpression' && this.#code[argument.start - 1] !== '(')) return
    openArray(this.#text, node.start + 'throw'.length)
    const kind = throwKind(argument, caughtNames, this.#constantNames)
    const end = this.#code[node.end - 1] === ';' ? node.end - 1 : node.end
    const replaced = argument.name === replacedName ? null : replacedName
    this.#text.appendLeft(end, thrownSuffix({ location, kind, isPromiseHandler: false }, replaced))
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
    if (param === null) this.#text.appendLeft(node.start + 'catch'.length, `(${name})`)
    const pattern = param !== null && paramName === null ? this.#code.slice(param.start, param.end) : null
    if (param && pattern !== null) this.#text.update(param.start, param.end, name)
    const bindings = pattern === null ? declaration : `let ${pattern}=${name};`
    this.#text.appendLeft(body.start + 1, `${caughtStatement(name, site)};${bindings}`)
    // A redefined name no longer refers to a caught error.
    const otherNames = caughtNames.filter((other) => other !== name)
    return { caughtNames: caughtName === name ? [...otherNames, name] : otherNames, replacedName: caughtName }
  }

  /** Checks that a pattern can move into the block: it is on one line and does not refer to other names. */
  #isMovablePattern(pattern: Node): boolean {
    const text = this.#code.slice(pattern.start, pattern.end)
    return (
      /^[\p{ID_Continue}$ \t{}[\],:.='"-]*$/u.test(text) && !/\blet\b/.test(text) && !someOwnNode(pattern, isComputed)
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
