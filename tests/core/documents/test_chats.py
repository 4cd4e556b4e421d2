"""Each message of an assistant in an exported chat is a text; what others wrote is listed."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from pura.documents import ALTERNATIVE, MAIN, Extraction, choose, read_data
from pura.record.left_out import LeftOutKind

QUESTION = "Please write some words about bread."
ANSWER = "Bread was once called sacred commerce by those who baked it."
SECOND = "Nobody knows any more who said so first, or why they did."


def read(value: object, name: str = "export.json") -> Extraction:
    text = value if isinstance(value, str) else json.dumps(value)
    return read_data(text.encode(), name=name)


def role(who: str, text: Any, **more: Any) -> dict[str, Any]:
    return {"role": who, "content": text, **more}


TURNS = [("user", QUESTION), ("assistant", ANSWER), ("user", "And now?"), ("assistant", SECOND)]


def chatgpt() -> list[dict[str, Any]]:
    nodes: dict[str, Any] = {"root": {"message": None, "parent": None, "children": ["0"]}}
    for number, (who, text) in enumerate(TURNS):
        middle = len(text) // 2
        nodes[str(number)] = {
            "message": {
                "author": {"role": who},
                "create_time": 1_700_000_000.0 + number,
                "content": {"content_type": "text", "parts": [text[:middle], text[middle:]]},
            },
            "parent": str(number - 1) if number else "root",
            "children": [str(number + 1)] if number + 1 < len(TURNS) else [],
        }
    return [{"title": "Bread", "mapping": dict(reversed(nodes.items())), "current_node": "3"}]


def claude() -> object:
    messages = [
        {
            "sender": "human" if who == "user" else who,
            "text": text,
            "content": [{"type": "thinking", "thinking": "x"}, {"type": "text", "text": text}],
            "created_at": f"2026-11-02T10:0{number}:00Z",
        }
        for number, (who, text) in enumerate(TURNS)
    ]
    return [{"uuid": "1", "name": "Bread", "chat_messages": messages}]


def studio() -> object:
    chunks = [{"role": "model" if w == "assistant" else w, "text": t} for w, t in TURNS]
    return {"chunkedPrompt": {"chunks": chunks}}


def gemini_api() -> object:
    contents = [
        {"role": "model" if w == "assistant" else w, "parts": [{"text": t}]} for w, t in TURNS
    ]
    return {"contents": contents}


def sharegpt() -> object:
    names = {"user": "human", "assistant": "gpt"}
    return {"conversations": [{"from": names[who], "value": text} for who, text in TURNS]}


def openai_request() -> object:
    return {"model": "m", "messages": [role(who, text) for who, text in TURNS]}


def openai_pieces() -> object:
    pieces = [role(who, [{"type": "text", "text": text}]) for who, text in TURNS]
    return {"messages": pieces}


def request_and_answer() -> object:
    choice = {"index": 0, "message": role("assistant", SECOND)}
    return {"messages": [role(who, text) for who, text in TURNS[:3]], "choices": [choice]}


WITH_ASSISTANTS: dict[str, Callable[[], object]] = {
    "ChatGPT": chatgpt,
    "Claude": claude,
    "AI Studio": studio,
    "Gemini": gemini_api,
    "ShareGPT": sharegpt,
    "messages": openai_request,
    "messages in pieces": openai_pieces,
    "request and answer": request_and_answer,
}


@pytest.mark.parametrize("program", WITH_ASSISTANTS)
def test_answers_are_examined_and_questions_are_listed(program: str) -> None:
    extraction = read(WITH_ASSISTANTS[program]())
    assert [document.text for document in extraction.documents] == [text for _, text in TURNS]
    assert [document.text for document in extraction.chosen] == [ANSWER, SECOND]
    listed = [(e.kind, e.part) for e in extraction.chosen[0].left_out]
    assert listed == [
        (LeftOutKind.MESSAGE, "message 1 (user)"),
        (LeftOutKind.MESSAGE, "message 3 (user)"),
    ]
    (question,) = choose(extraction, ["message 1 (user)"])
    assert question.text == QUESTION


@pytest.mark.parametrize(
    ("program", "time"),
    [("ChatGPT", "2023-11-14T22:13:21+00:00"), ("Claude", "2026-11-02T10:01:00Z")],
)
def test_a_message_has_its_time(program: str, time: str) -> None:
    assert read(WITH_ASSISTANTS[program]()).chosen[0].location == time


def test_the_messages_of_each_row_belong_together() -> None:
    lines = "\n".join(json.dumps(openai_request()) for _ in range(2))
    extraction = read(lines, "export.jsonl")
    assert [document.part for document in extraction.chosen] == [
        "row 1, message 2 (assistant)",
        "row 1, message 4 (assistant)",
        "row 2, message 2 (assistant)",
        "row 2, message 4 (assistant)",
    ]
    assert {entry.part for entry in extraction.chosen[2].left_out} == {
        "row 2, message 1 (user)",
        "row 2, message 3 (user)",
    }


def test_several_conversations_are_told_apart_by_number_and_title() -> None:
    (talk,) = chatgpt()
    extraction = read([talk, {**talk, "title": "Salt\nand water"}])
    assert [document.part for document in extraction.chosen] == [
        "chat 1 Bread, message 2 (assistant)",
        "chat 1 Bread, message 4 (assistant)",
        "chat 2 Salt and water, message 2 (assistant)",
        "chat 2 Salt and water, message 4 (assistant)",
    ]


def test_another_answer_of_chatgpt_is_a_message_as_well() -> None:
    (talk,) = chatgpt()
    message = {"author": {"role": "assistant"}, "content": {"parts": ["Another answer."]}}
    talk["mapping"]["branch"] = {"message": message, "parent": "0", "children": []}
    talk["mapping"]["0"]["children"].append("branch")
    assert "Another answer." in [document.text for document in read([talk]).chosen]


def test_the_activity_of_gemini_is_read_as_pages() -> None:
    entry = {
        "header": "Gemini Apps",
        "title": f"Prompted {QUESTION}",
        "time": "2026-11-02T10:00:00Z",
        "safeHtmlItem": [{"html": f"<p>{ANSWER}</p><p>{SECOND}</p>"}],
    }
    extraction = read([entry])
    assert [document.text for document in extraction.chosen] == [f"{ANSWER}\n\n{SECOND}"]
    assert [document.role for document in extraction.documents] == [ALTERNATIVE, MAIN]


def telegram() -> object:
    pieces = [ANSWER[:9], {"type": "bold", "text": ANSWER[9:]}]
    return {
        "name": "Bakers",
        "type": "private_group",
        "messages": [
            {"type": "service", "from_id": "u1", "action": "create_group"},
            {"type": "message", "from": "Anna", "from_id": "u1", "text": "Hi!"},
            {"type": "message", "from": "Ben", "from_id": "u2", "text": pieces},
            {"type": "message", "from": "Anna", "from_id": "u1", "text": SECOND},
        ],
    }


def slack() -> object:
    return [
        {"type": "message", "user": "U1", "ts": "1700000000.1", "text": "Hi!"},
        {
            "type": "message",
            "user": "U2",
            "user_profile": {"real_name": "Ben"},
            "ts": "1700000001.1",
            "text": ANSWER.replace("sacred", "<https://example.org|sacred>"),
        },
        {"type": "message", "username": "Anna", "ts": "1700000002.1", "text": SECOND},
    ]


def teams() -> object:
    bodies = [("Anna", "Hi!"), ("Ben", f"<p>{ANSWER}</p>"), ("Anna", SECOND)]
    return {
        "value": [
            {
                "messageType": "message",
                "from": {"user": {"displayName": name}},
                "body": {"contentType": "html" if "<" in body else "text", "content": body},
            }
            for name, body in bodies
        ]
    }


def teams_account() -> object:
    bodies = [("Anna", "Hi!"), ("Ben", f"<p>{ANSWER}</p>"), ("Anna", SECOND)]
    messages = [{"displayName": name, "content": body} for name, body in bodies]
    return {"conversations": [{"displayName": None, "MessageList": messages}]}


AMONG_PERSONS: dict[str, Callable[[], object]] = {
    "Telegram": telegram,
    "Slack": slack,
    "Teams": teams,
    "Teams, account": teams_account,
}


@pytest.mark.parametrize("program", AMONG_PERSONS)
def test_long_messages_among_persons_are_examined(program: str) -> None:
    extraction = read(AMONG_PERSONS[program]())
    assert [document.text for document in extraction.documents] == ["Hi!", ANSWER, SECOND]
    assert [document.text for document in extraction.chosen] == [ANSWER, SECOND]
    assert extraction.chosen[0].part == "message 2 (Ben)"
    assert [(e.kind, e.words) for e in extraction.chosen[0].left_out] == [(LeftOutKind.MESSAGE, 1)]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("02.11.26, 10:00 - Anna: ", "02.11.26, 10:01 - Ben: "),
        ("[11/2/26, 10:00:00\u202fAM] Anna: ", "\u200e[11/2/26, 10:01:00\u202fAM] Ben: "),
    ],
)
def test_a_chat_of_whatsapp_keeps_the_lines_of_a_message_together(first: str, second: str) -> None:
    extraction = read(f"{first}Hi!\n{second}{ANSWER}\n{SECOND}\n", "chat.txt")
    assert [document.text for document in extraction.chosen] == [f"{ANSWER}\n{SECOND}"]
    assert extraction.chosen[0].part == "message 2 (Ben)"


PIECES = [ANSWER[:5], ANSWER[5:20], ANSWER[20:]]


def openai_chunk(piece: str, index: int = 0) -> dict[str, Any]:
    choice = {"index": index, "delta": {"content": piece}}
    return {"id": "1", "object": "chat.completion.chunk", "choices": [choice]}


def claude_event(piece: str) -> dict[str, Any]:
    delta = {"type": "text_delta", "text": piece}
    return {"type": "content_block_delta", "index": 0, "delta": delta}


def response_event(piece: str) -> dict[str, Any]:
    return {"type": "response.output_text.delta", "item_id": "1", "delta": piece}


def completion_chunk(piece: str) -> dict[str, Any]:
    return {"object": "text_completion", "choices": [{"index": 0, "text": piece}]}


def gemini_chunk(piece: str) -> dict[str, Any]:
    return {"candidates": [{"content": {"role": "model", "parts": [{"text": piece}]}}]}


def ollama_chat(piece: str) -> dict[str, Any]:
    return {"model": "m", "message": role("assistant", piece), "done": False}


def ollama_completion(piece: str) -> dict[str, Any]:
    return {"model": "m", "response": piece, "done": False}


STREAMS = [
    openai_chunk,
    claude_event,
    response_event,
    completion_chunk,
    gemini_chunk,
    ollama_chat,
    ollama_completion,
]


@pytest.mark.parametrize("event", STREAMS)
@pytest.mark.parametrize("name", ["x.txt", "x.sse", "x.jsonl", "x.json"])
def test_the_pieces_of_a_stream_are_one_text(
    event: Callable[[str], dict[str, Any]], name: str
) -> None:
    events = [event(piece) for piece in PIECES]
    if name == "x.json":
        text = json.dumps(events)
    elif name == "x.jsonl":
        text = "\n".join(map(json.dumps, events))
    else:
        text = "".join(f"event: x\ndata: {json.dumps(one)}\n\n" for one in events)
        text += "data: [DONE]\n"
    (document,) = read(text, name).documents
    assert document.text == ANSWER
    assert {t.name: t.count for t in document.transforms} == {"pieces-joined": 3}


def test_answers_of_one_stream_are_told_apart() -> None:
    events = [openai_chunk(piece, index) for piece in PIECES for index in (0, 1)]
    text = "".join(f"data: {json.dumps(event)}\n\n" for event in events)
    assert [document.part for document in read(text, "x.txt").chosen] == ["answer 1", "answer 2"]


def test_complete_answers_of_an_engine_are_not_joined() -> None:
    rows = [{**ollama_completion(text), "done": True} for text in (ANSWER, SECOND)]
    extraction = read("\n".join(map(json.dumps, rows)), "x.jsonl")
    assert [document.text for document in extraction.chosen] == [ANSWER, SECOND]


def test_the_prose_of_a_notebook_is_examined_and_its_code_is_listed() -> None:
    notebook = {
        "nbformat": 4,
        "cells": [
            {"cell_type": "markdown", "source": [f"{ANSWER}\n", SECOND]},
            {
                "cell_type": "code",
                "source": "print('one two')",
                "outputs": [{"output_type": "stream", "text": ["one two\n"]}],
            },
            {"cell_type": "markdown", "source": "The end."},
        ],
    }
    extraction = read(notebook, "x.ipynb")
    assert [document.text for document in extraction.chosen] == [f"{ANSWER}\n{SECOND}\n\nThe end."]
    assert [(e.part, e.words) for e in extraction.chosen[0].left_out] == [
        ("code", 3),
        ("results", 2),
    ]


SUBRIP = (
    "1\n00:00:01,000 --> 00:00:02,000\n{\\an8}<i>Bread was once</i> called\nsacred\n\n"
    "2\n00:00:02,000 --> 00:00:03,500\ncommerce by those who baked it.\n"
)
WEBVTT = (
    "WEBVTT - a title\n\nSTYLE\n::cue {color: red}\n\n"
    "intro\n00:01.000 --> 00:02.000 align:start\n<v Anna>Bread was once called\n\n"
    "00:02.000 --> 00:03.500\nsacred commerce by those who <b>baked</b> it.\n"
)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (SUBRIP, "x.srt"),
        (WEBVTT, "x.vtt"),
        ("1\r\n00:00:01,000 --> 00:00:02,000\r\n" + ANSWER + "\r\n", "x.txt"),
    ],
)
def test_subtitles_are_read_without_numbers_and_times(text: str, name: str) -> None:
    extraction = read(text, name)
    assert (extraction.format, extraction.chosen[0].text) == ("subtitles", ANSWER)


def test_a_comment_in_subtitles_is_listed() -> None:
    text = f"WEBVTT\n\nNOTE three words here\n\n00:01.000 --> 00:02.000\n{ANSWER}\n"
    assert [(e.kind, e.words) for e in read(text, "x.vtt").chosen[0].left_out] == [
        (LeftOutKind.COMMENT, 3)
    ]


@pytest.mark.parametrize(
    "text",
    [
        "data: none was found, and the rest is prose.\n",
        "1\nA list with a number before it.\n",
        "11/2/26, a day on which nothing happened.\n02.11.26, the same day.\n",
        "2026-11-02 10:00:00 INFO: started\n2026-11-02 10:00:01 INFO: ended\n",
    ],
)
def test_plain_text_that_looks_a_little_alike_stays_as_it_is(text: str) -> None:
    extraction = read(text, "x.txt")
    assert (extraction.format, extraction.chosen[0].text) == ("text", text)
