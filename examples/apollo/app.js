import { ApolloServer } from '@apollo/server'
import { expressMiddleware } from '@as-integrations/express5'
import express from 'express'
import { Tracker } from 'faultboard'
import { capture, dashboard } from 'faultboard/express'
import { GraphQLError } from 'graphql'

Tracker.configure({ dashboard_username: 'admin', dashboard_password: process.env.DASHBOARD_PASSWORD })

const faultboard = {
  async requestDidStart() {
    return {
      async didEncounterErrors({ errors }) {
        for (const { originalError } of errors) {
          // A GraphQLError is meant for the client.
          if (originalError && !(originalError instanceof GraphQLError)) Tracker.report(originalError)
        }
      },
    }
  },
}

const server = new ApolloServer({
  plugins: [faultboard],
  typeDefs: 'type Query { orders: [String!]! }',
  resolvers: {
    Query: {
      orders() {
        throw new Error('Could not load orders')
      },
    },
  },
})
await server.start()

const app = express()
app.use(dashboard())
app.use('/graphql', express.json(), expressMiddleware(server))
app.use(capture())
app.listen(process.env.PORT ?? 3000)
