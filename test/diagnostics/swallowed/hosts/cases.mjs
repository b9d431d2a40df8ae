import library from 'library'

// Raises and catches in every way. `@raise name` and `@rescue name` name the lines in the expected counts.
const { Tracker } = await import(process.env.FAULTBOARD_TEST_INDEX)
const FULL = new RangeError('constant')
const reporting = (error) => Tracker.report(error)
const ignored = (_error) => null

const cases = {
  plain() {
    try {
      throw new Error('plain') // @raise plain
    } catch (error) {
      // @rescue plain
      void error
    }
  },
  rethrown() {
    try {
      try {
        throw new Error('rethrown') // @raise rethrown
      } catch (error) {
        if (error) throw error
      }
    } catch {} // @rescue rethrown
  },
  async rethrown_and_reported() {
    try {
      try {
        throw new Error('rethrown and reported') // @raise rethrown_and_reported
      } catch (error) {
        if (error) throw error
      }
    } catch (error) {
      await reporting(error)
    }
  },
  through_finally() {
    try {
      try {
        throw new Error('through finally') // @raise through_finally
      } finally {
        void 0
      }
    } catch (error) {
      // @rescue through_finally
      console.error('logged', error.message)
    }
  },
  nested() {
    try {
      throw new Error('outer') // @raise nested_outer
    } catch (outer) {
      // @rescue nested_outer
      try {
        throw new TypeError(outer.message) // @raise nested_inner
      } catch {
        // @rescue nested_inner
      }
    }
  },
  async wrapped_and_reported() {
    try {
      try {
        throw new Error('cause') // @raise cause_reported
      } catch (error) {
        throw new TypeError('wrapped', { cause: error }) // @raise wrapped_reported
      }
    } catch (error) {
      await reporting(error)
    }
  },
  wrapped() {
    try {
      try {
        throw new Error('cause') // @raise cause
      } catch (error) {
        throw new TypeError('wrapped', { cause: error }) // @raise wrapped
      }
    } catch (error) {
      // @rescue wrapped
      return error.message
    }
  },
  replaced() {
    try {
      try {
        throw new Error('replaced') // @raise replaced
      } catch {
        throw new TypeError('replacement') // @raise replacement
      }
    } catch {} // @rescue replacement
  },
  async replaced_concurrently() {
    const failOnce = async () => {
      try {
        throw new Error('concurrent') // @raise concurrent
      } catch (error) {
        await new Promise((resume) => setTimeout(resume, 5, error))
        throw new TypeError('instead') // @raise concurrent_replacement
      }
    }
    await Promise.all(Array.from({ length: 20 }, () => failOnce().catch(ignored))) // @rescue concurrent_replacement
  },
  replaced_at_every_level() {
    const down = (depth) => {
      try {
        if (depth === 0) throw new Error('deepest') // @raise deepest
        down(depth - 1)
      } catch {
        throw new TypeError(`at ${depth}`) // @raise wrapped_per_level
      }
    }
    try {
      down(3)
    } catch {} // @rescue wrapped_per_level
  },
  replaced_after_handler_with_same_name() {
    try {
      try {
        throw new Error('outer') // @raise same_name_outer
      } catch (error) {
        try {
          throw new RangeError(error.message) // @raise same_name_inner
        } catch (error) {
          // @rescue same_name_inner
          void error
        }
        throw new TypeError('replaces the outer error') // @raise same_name
      }
    } catch {} // @rescue same_name
  },
  replaced_in_same_variable() {
    for (const again of [false, true]) {
      try {
        try {
          throw new Error('shadowed') // @raise same_variable
        } catch (error) {
          for (const error of [new TypeError('shadowing')]) if (again) throw error // @raise shadowing
          // biome-ignore lint/suspicious/noCatchAssign: the case under test.
          error = new TypeError(error.message)
          throw error // @raise assigned
        }
      } catch {} // @rescue same_variable
    }
  },
  replaced_after_destructuring() {
    try {
      try {
        throw new Error('destructured original') // @raise destructured_original
      } catch ({ message, name = 'none' }) {
        throw new TypeError(message + name) // @raise destructured_replacement
      }
    } catch {} // @rescue destructured_replacement
  },
  async replaced_by_handler() {
    const failing = async () => {
      throw new Error('replaced by a handler') // @raise replaced_by_handler
    }
    const replaced = failing().catch((error) => {
      throw new TypeError(error.message) // @raise thrown_by_handler
    })
    await replaced.catch(ignored) // @rescue thrown_by_handler
  },
  async awaited() {
    const failing = async () => {
      await null
      throw new Error('awaited') // @raise awaited
    }
    try {
      await failing()
    } catch {} // @rescue awaited
  },
  async promise_catch() {
    const failing = async () => {
      throw new Error('promise') // @raise promise_catch
    }
    await failing().catch((error) => {
      // @rescue promise_catch
      console.error(error.message)
    })
    await failing().catch(() => {}) // @rescue promise_catch_empty
  },
  async promise_then() {
    const failing = async () => {
      throw new Error('then') // @raise promise_then
    }
    await failing().then(null, (error) => String(error)) // @rescue promise_then
  },
  destructured() {
    try {
      throw new Error('destructured') // @raise destructured
    } catch ({ message, name = 'none' }) {
      // @rescue destructured
      return `${message}${name}`
    }
  },
  unnamed() {
    try {
      throw new Error('unnamed') // @raise unnamed
    } catch {
      // @rescue unnamed
      return null
    }
  },
  parsed() {
    try {
      JSON.parse('{') // @raise parsed
    } catch (error) {
      // @rescue parsed
      return String(error)
    }
  },
  raised_in_library() {
    try {
      library.fail() // @raise raised_in_library
    } catch {} // @rescue raised_in_library
  },
  inside_a_library() {
    library.failInside()
    library.swallow(() => {
      throw new Error('swallowed by a library') // @raise swallowed_by_library
    })
  },
  text() {
    try {
      throw 'a string' // @raise text
    } catch (text) {
      // @rescue text
      return text
    }
  },
  finally_returns() {
    try {
      throw new Error('lost to a return') // @raise finally_returns
    } finally {
      // biome-ignore lint/correctness/noUnsafeFinally: the case under test.
      return 1
    }
  },
  async reported() {
    try {
      throw new Error('reported') // @raise reported
    } catch (error) {
      await Tracker.Commands.LogError.call({ exception: error })
    }
  },
  retried() {
    try {
      let last
      for (let i = 0; i < 3; i++) {
        try {
          throw new Error(`attempt ${i}`) // @raise retried
        } catch (error) {
          // @rescue retried
          last = error
        }
      }
      throw last
    } catch {} // @rescue retries_exhausted
  },
  async handed_to_next() {
    const next = (error) => setImmediate(() => reporting(error))
    try {
      throw new Error('handed to next') // @raise handed_to_next
    } catch (error) {
      next(error)
    }
    await new Promise((resume) => setTimeout(resume, 10))
  },
  async by_reference() {
    const failing = async () => {
      throw new Error('by reference') // @raise by_reference
    }
    await failing().catch(ignored) // @rescue by_reference
  },
  generated() {
    function* numbers() {
      yield 1
      throw new Error('generated') // @raise generated
    }
    try {
      for (const number of numbers()) void number
    } catch {} // @rescue generated
  },
  async all_settled() {
    const failing = async () => {
      throw new Error('settled') // @raise all_settled
    }
    await Promise.allSettled([failing(), failing()])
  },
  constant() {
    for (let i = 0; i < 3; i++) {
      try {
        throw FULL // @raise constant
      } catch {} // @rescue constant
    }
  },
  async aggregated() {
    const failing = async () => {
      throw new Error('aggregated') // @raise aggregated
    }
    await Promise.any([failing(), failing()]).catch(reporting) // @rescue aggregated_in
  },
  ignored_types() {
    for (const error of [
      Object.assign(new Error('gone'), { code: 'ECONNRESET' }),
      new DOMException('', 'AbortError'),
    ]) {
      try {
        throw error
      } catch {}
    }
    class Declined extends Error {}
    try {
      throw new Declined('ignored by an option')
    } catch {}
  },
  catch_without_promise() {
    const schema = { fallback: null, catch: (fallback) => fallback }
    if (schema.catch('a default') !== 'a default') throw new Error('broken')
    if (schema.catch(() => 7)({ input: 1 }) !== 7) throw new Error('broken')
  },
}

for (const run of Object.values(cases)) await run()
console.log('done')
