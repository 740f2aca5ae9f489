// SPDX-License-Identifier: Apache-2.0

// A controller in Go: sends the documents of standard input, one a line, to a session of
// libweir-json and prints what its plans start (docs/embed.md).
//
//	go run decide.go < documents.jsonl
package main

// #cgo pkg-config: weir-json
// #include <stdlib.h>
// #include <weir/json.h>
import "C"

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"unsafe"
)

type action struct {
	Verb, Id, Node string
	Job            int
}

type answer struct {
	Status       string
	ErrorMessage string `json:"error_message"`
	Actions      []action
}

func ask(session *C.struct_weir_json, document string) (found answer, err error) {
	text := C.CString(document)
	defer C.free(unsafe.Pointer(text))
	err = json.Unmarshal([]byte(C.GoString(C.weir_json_answer(session, text))), &found)
	return found, err
}

func main() {
	session := C.weir_json_open()
	defer C.weir_json_close(session)
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		found, err := ask(session, lines.Text())
		if err != nil || found.Status != "ok" {
			fmt.Println("error:", found.ErrorMessage, err)
			continue
		}
		for _, action := range found.Actions {
			if action.Verb == "start" {
				fmt.Println("start", action.Id, "of job", action.Job, "on", action.Node)
			}
		}
	}
}
