import { createServer } from 'node:http'
import { Tracker } from 'faultboard'
import { capture, dashboard } from 'faultboard/fetch'
import { GraphQLError } from 'graphql'
import { createSchema, createYoga } from 'graphql-yoga'

Tracker.configure({ dashboard_username: 'admin', dashboard_password: process.env.DASHBOARD_PASSWORD })

const serveDashboard = dashboard()
const recordError = capture()

const faultboard = {
  async onRequest({ request, serverContext, endResponse }) {
    const response = await serveDashboard(request, { remote_address: serverContext.req.socket.remoteAddress })
    if (response) endResponse(response)
  },
  onExecute({ args: { contextValue, operationName } }) {
    return {
      onExecuteDone({ result }) {
        for (const { originalError } of result.errors ?? []) {
          // A GraphQLError is meant for the client.
          if (!originalError || originalError instanceof GraphQLError) continue
          const remote_address = contextValue.req.socket.remoteAddress
          recordError(originalError, contextValue.request, { route: operationName, remote_address })
        }
      },
    }
  },
}

const yoga = createYoga({
  plugins: [faultboard],
  schema: createSchema({
    typeDefs: 'type Query { orders: [String!]! }',
    resolvers: {
      Query: {
        orders() {
          throw new Error('Could not load orders')
        },
      },
    },
  }),
})

createServer(yoga).listen(process.env.PORT ?? 3000)
