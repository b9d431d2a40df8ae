import { jobEngineContract, settingsOf } from '../contract/job-engine.js'
import { describeEachDatabase } from '../support/databases.js'
import { freshPlace } from '../support/tracker.js'

describeEachDatabase('the embedded engine', (database) => {
  jobEngineContract(async () => {
    const { url } = await freshPlace(database)
    const settings = (address: string) => settingsOf({ database: address })
    return { settings: settings(url), server: database.dialect === 'sqlite' ? null : { url, settings } }
  })
})
