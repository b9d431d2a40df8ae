import { boolean, choice, integer, listOf, pattern } from '../../config/kinds.js'
import { row } from '../../config/options.js'

export const localVariableOptions = {
  enable_local_variables: row<boolean>({
    group: 'diagnostics',
    kind: boolean,
    default: false,
    text: "Records the local variables of the host's own functions where an error is thrown.",
  }),
  local_variable_mode: row<'always' | 'adaptive'>({
    group: 'diagnostics',
    kind: choice(['always', 'adaptive']),
    default: 'adaptive',
    text: 'adaptive: reads variables from the second occurrence of an error on, at no cost in between. always: reads them at every throw; a stack overflow can then abort the process, see docs/diagnostics.md.',
  }),
  local_variable_max_per_second: row<number>({
    group: 'diagnostics',
    kind: integer(1, 1000),
    default: 10,
    text: 'Maximum number of thrown errors per second whose variables are read.',
  }),
  local_variable_max_pause_ms_per_second: row<number>({
    group: 'diagnostics',
    kind: integer(1, 1000),
    default: 20,
    text: 'Milliseconds per second that reading variables may take. Bursts of up to five times the limit are allowed. Reading then stops until the average is below the limit again.',
  }),
  local_variable_max_count: row<number>({
    group: 'diagnostics',
    kind: integer(1, 100),
    default: 15,
    text: 'Maximum number of variables to keep per frame.',
  }),
  local_variable_max_depth: row<number>({
    group: 'diagnostics',
    kind: integer(1, 10),
    default: 3,
    text: 'Maximum depth of nested objects to keep.',
  }),
  local_variable_max_string_length: row<number>({
    group: 'diagnostics',
    kind: integer(10, 5000),
    default: 200,
    text: 'Maximum number of characters to keep per string.',
  }),
  local_variable_max_array_items: row<number>({
    group: 'diagnostics',
    kind: integer(1, 100),
    default: 10,
    text: 'Maximum number of items to keep per array.',
  }),
  local_variable_max_hash_items: row<number>({
    group: 'diagnostics',
    kind: integer(1, 100),
    default: 20,
    text: 'Maximum number of keys to keep per object.',
  }),
  local_variable_filter_patterns: row<readonly (string | RegExp)[]>({
    group: 'diagnostics',
    kind: listOf(pattern),
    default: [],
    text: 'Additional variable and key names to filter, on top of sensitive_data_patterns.',
  }),
  enable_instance_variables: row<boolean>({
    group: 'diagnostics',
    kind: boolean,
    default: false,
    text: 'Records the properties of `this` in the throwing frame together with the local variables.',
  }),
  instance_variable_max_count: row<number>({
    group: 'diagnostics',
    kind: integer(1, 100),
    default: 20,
    text: 'Maximum number of properties of `this` to keep.',
  }),
}
