import * as v from 'valibot'
import { id, optional } from '../../model/input/input.js'
import { defineOperation } from '../../operation.js'
import { listEnvironments } from './filter-choices.js'

/** Lists the environments of errors and processes by name. */
export const environments = defineOperation({
  input: v.object({ application_id: optional(id()) }),
  run: (context, { application_id = null }): Promise<string[]> => listEnvironments(context, application_id),
})
