"use strict";

const path = require("path");
const app = require("express")();

require("./orders")(app);

app.use("/static", (request, response) => response.sendFile(path.join(__dirname, "package.json")));

module.exports = app;
