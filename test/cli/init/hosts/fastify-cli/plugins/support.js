'use strict'

module.exports = async function (fastify) {
  fastify.decorate('support', 'none')
}
