import type { Edits } from './edits.js'
import { handlerKind } from './handler-kind.js'
import { caughtStatement, keptIn, type Locate, openList, thrownMark } from './marks.js'
import { PromiseMarker } from './promise-marker.js'
import { GLOBALS } from './site.js'
import { childrenOf, guardedBlock, isFunction, isNode, type Node, some } from './syntax.js'
import { constantNames, thrownKind } from './thrown-kind.js'

/** What is known of the code around a node. */
interface Around {
  /** The names under which errors are caught further out. */
  caught: readonly string[]
  /** What was caught by the catch block or handler of the same function that it stands in, by its name. */
  instead_of: string | null
}

/**
 * Marks what throws and what catches. The marks are chosen so that whatever may stand in a stack keeps its column: they
 * come behind it, or in the place of a blank. A list and `reduceRight` hand a value over from behind, and give it back.
 *
 * @example
 * `throw new Error('x')` // throw[new Error('x')].reduceRight(globalThis.__faultboard_thrown||((s,e)=>e),"src/a.ts:1:1#made")
 * `catch (error) {`      // catch (error) {try{globalThis.__faultboard_caught?.(error,"src/a.ts:1:3#empty")}catch{};
 * `throw new Other()`    // in there: throw[new Other()].reduceRight(…,["src/a.ts:2:3#made",error])
 */
export class Marker {
  readonly #code: string
  readonly #edits: Edits
  readonly #locate: Locate
  readonly #constants: ReadonlySet<string>
  readonly #promises: PromiseMarker

  constructor(code: string, program: Node, edits: Edits, locate: Locate) {
    this.#code = code
    this.#edits = edits
    this.#locate = locate
    this.#constants = constantNames(program)
    this.#promises = new PromiseMarker(code, edits, locate)
  }

  mark(node: Node, around: Around = { caught: [], instead_of: null }): void {
    let below = around
    // What is thrown there goes no further than its own handler.
    const guarded = guardedBlock(node)
    if (node.type === 'CatchClause') below = this.#markCatch(node, around)
    else if (node.type === 'ThrowStatement') this.#markThrow(node, around)
    else if (node.type === 'CallExpression') this.#promises.mark(node)
    else if (isFunction(node)) below = { caught: around.caught, instead_of: this.#promises.caughtBy(node) }
    for (const child of childrenOf(node)) this.mark(child, child === guarded ? { ...below, instead_of: null } : below)
  }

  #markThrow(node: Node, { caught, instead_of }: Around): void {
    const argument = node.argument as Node
    const location = this.#locate(node.start)
    // Without its parentheses it would be two of the list.
    if (location === null || (argument.type === 'SequenceExpression' && this.#code[argument.start - 1] !== '(')) return
    openList(this.#edits, this.#code, node.start + 'throw'.length)
    const kind = thrownKind(argument, caught, this.#constants)
    const end = this.#code[node.end - 1] === ';' ? node.end - 1 : node.end
    const replaced = argument.name === instead_of ? null : instead_of
    this.#edits.insert(end, thrownMark({ location, kind, of_promise: false }, replaced))
  }

  #markCatch(node: Node, { caught }: Around): Around {
    const body = node.body as Node
    const location = this.#locate(node.start)
    const param = isNode(node.param) ? node.param : null
    const own = param?.type === 'Identifier' ? String(param.name) : null
    if (location === null || (param && own === null && !this.#isPlainPattern(param))) {
      return { caught: own === null ? caught : [...caught, own], instead_of: null }
    }
    const name = own ?? GLOBALS.error
    const { name: kept, declaration } = keptIn(body, name)
    const mark = caughtStatement(name, { location, kind: handlerKind(body, this.#code), of_promise: false })
    if (param === null) this.#edits.insert(node.start + 'catch'.length, `(${name})`)
    const pattern = param !== null && own === null ? this.#code.slice(param.start, param.end) : null
    if (param && pattern !== null) this.#edits.replace(param.start, pattern.length, name)
    const bindings = pattern === null ? declaration : `let ${pattern}=${name};`
    this.#edits.insert(body.start + 1, `${mark};${bindings}`)
    // What is thrown under a name that was given another meaning may be anything.
    const others = caught.filter((other) => other !== name)
    return { caught: kept === name ? [...others, name] : others, instead_of: kept }
  }

  /** One that can be written again elsewhere: on one line, and with no name in it that might mean another thing there. */
  #isPlainPattern(pattern: Node): boolean {
    const text = this.#code.slice(pattern.start, pattern.end)
    return /^[\p{ID_Continue}$ \t{}[\],:.='"-]*$/u.test(text) && !/\blet\b/.test(text) && !some(pattern, isComputed)
  }
}

/** In a pattern, a default or a key that is more than written down. */
function isComputed({ type, computed, key, right }: Node): boolean {
  if (type === 'AssignmentPattern') return !isLiteral(right)
  return type === 'Property' && computed === true && !isLiteral(key)
}

function isLiteral(value: unknown): boolean {
  if (!isNode(value)) return false
  return value.type === 'Literal' || (value.type === 'UnaryExpression' && isLiteral(value.argument))
}
