import * as v from 'valibot'
import { defineOperation } from '../operation.js'

export interface Application {
  id: number
  name: string
}

/** The applications that report here, by name. */
export const listApplications = defineOperation({
  input: v.object({}),
  async run({ database }): Promise<Application[]> {
    return database.read.selectFrom('faultboard_applications').select(['id', 'name']).orderBy('name').execute()
  },
})
